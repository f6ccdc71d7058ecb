(* E7: each hypothesis of the switch theorems dropped, and the smallest counterexample.  In dimension one, over any  *)
(* ordered field; the sink is `true` (two keys) or None (three keys).                                               *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From sinkproof Require Import Hulls Switch.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* Attention on the simplex. *)
Definition attention (R : realFieldType) (T : finType) (a : T -> R) : Prop :=
  (forall j, 0 <= a j) /\ \sum_j a j = 1.

(* The number c as a vector of dimension one. *)
Definition num (R : ringType) (c : R) : 'rV[R]_1 := const_mx c.

Lemma numE (R : ringType) (c : R) : num c 0 0 = c. Proof. by rewrite mxE. Qed.

Lemma num_inj (R : ringType) (c e : R) : num c = num e -> c = e.
Proof. by move/rowP => /(_ 0); rewrite !numE. Qed.

Lemma numZ (R : ringType) (c e : R) : c *: num e = num (c * e).
Proof. by apply/rowP => k; rewrite !mxE. Qed.

Lemma numD (R : ringType) (c e : R) : num c + num e = num (c + e).
Proof. by apply/rowP => k; rewrite !mxE. Qed.

Lemma sum_option (V : zmodType) (K : finType) (f : option K -> V) :
  \sum_j f j = f None + \sum_(k : K) f (Some k).
Proof.
rewrite (bigD1 None) //= (reindex_omap Some id) => [|[k|] //].
by congr (_ + _); apply: eq_bigl => k; rewrite eqxx.
Qed.

Lemma sum_bool (V : zmodType) (f : bool -> V) : \sum_j f j = f true + f false.
Proof. by rewrite big_bool. Qed.

(* Positive numbers have no convex combination 0. *)
Lemma num_off_hull (R : realFieldType) (I : finType) (A : {set I}) (f : I -> R) :
  (forall i, i \in A -> 0 < f i) -> ~ hull A (fun i => num (f i)) 0.
Proof.
by move=> pos; apply/half_space; exists (num 1) => i /pos; rewrite /dot big_ord1 !numE mulr1.
Qed.

(* E7, a null content value.  v_s = 0 and v_1 = 0: all attention on key 1 gives output 0. *)
Theorem E7_null_value (R : realFieldType) :
  let v (t : bool) := num (0 : R) in let a (t : bool) : R := (~~ t)%:R in
  [/\ v true = 0, attention a, \sum_j a j *: v j = 0 & a true = 0].
Proof.
have n0 : num (0 : R) = 0 by apply/rowP => k; rewrite !mxE.
rewrite /= n0; split=> //; last by rewrite big1 // => j _; rewrite scaler0.
by split=> [j|]; rewrite ?ler0n // sum_bool add0r.
Qed.

(* E7, non-zero values with 0 in their hull.  v_1 = 1, v_2 = -1, half the attention on each. *)
Theorem E7_opposite_values (R : realFieldType) :
  let v (t : option bool) := num (if t is Some b then (-1) ^+ b else 0 : R) in
  let a (t : option bool) : R := if t is Some b then 2%:R^-1 else 0 in
  [/\ v None = 0, forall j, j != None -> v j != 0, attention a, \sum_j a j *: v j = 0 & a None = 0].
Proof.
have n0 : num (0 : R) = 0 by apply/rowP => k; rewrite !mxE.
have two : 2%:R != 0 :> R by rewrite pnatr_eq0.
split=> //.
- move=> [b|//] _; apply/eqP; rewrite -n0 => /num_inj /eqP.
  by rewrite signr_eq0.
- split=> [[b|]|]; rewrite ?invr_ge0 ?ler0n ?lexx // sum_option sum_bool add0r.
  by field.
- by rewrite sum_option sum_bool !numZ !numD -[RHS]n0; congr num; rewrite expr0 expr1; ring.
Qed.

(* E7, a sink value that is not 0.  v_s = -1, v_1 = 1 (0 is outside the hull of the content): weights 1/2 and 1/2.  *)
Theorem E7_sink_value (R : realFieldType) :
  let v (t : bool) := num ((-1) ^+ t : R) in let a (t : bool) : R := 2%:R^-1 in
  [/\ ~ hull [set~ true] v 0, attention a, \sum_j a j *: v j = 0 & a true != 1].
Proof.
have n0 : num (0 : R) = 0 by apply/rowP => k; rewrite !mxE.
have two : 2%:R != 0 :> R by rewrite pnatr_eq0.
split.
- by apply: num_off_hull => -[]; rewrite !inE // expr0 ltr01.
- split=> [j|]; first by rewrite invr_ge0 ler0n.
  by rewrite sum_bool; field.
- by rewrite sum_bool !numZ !numD -[RHS]n0; congr num; rewrite expr0 expr1; ring.
- by rewrite invr_eq1 -subr_eq0 -[2%:R]/(1 + 1) addrK oner_eq0.
Qed.

(* E7, a negative weight.  v_s = 0, v_1 = 1, v_2 = 2, weights 0, 2, -1: sum 1, output 0, nothing on the sink. *)
Theorem E7_signs (R : realFieldType) :
  let v (t : option bool) := num (if t is Some b then if b then 1 else 2%:R else 0 : R) in
  let a (t : option bool) : R := if t is Some b then if b then 2%:R else - 1 else 0 in
  [/\ v None = 0, ~ hull [set~ None] v 0, \sum_j a j = 1, \sum_j a j *: v j = 0 & a None = 0].
Proof.
have n0 : num (0 : R) = 0 by apply/rowP => k; rewrite !mxE.
split=> //.
- by apply: num_off_hull => -[[]|]; rewrite !inE // ?ltr01 ?ltr0Sn.
- by rewrite sum_option sum_bool; ring.
- by rewrite sum_option sum_bool !numZ !numD -[RHS]n0; congr num; ring.
Qed.

(* E7: two content keys are needed for that.  With one content key, signs are free. *)
Theorem E7_signs_one_key (R : realFieldType) (d : nat) (v : bool -> 'rV[R]_d) (a : bool -> R) :
  v true = 0 -> ~ hull [set~ true] v 0 -> \sum_j a j = 1 -> \sum_j a j *: v j = 0 ->
  forall j, a j = (j == true)%:R.
Proof.
move=> vs out; rewrite !sum_bool vs scaler0 add0r => a1 /eqP; rewrite scaler_eq0 => /orP[/eqP a0|/eqP v0].
  by move: a1; rewrite a0 addr0 => a1 [].
have one : [set~ true] = [set false] by apply/setP => -[]; rewrite !inE.
by case: out; exists (fun=> 1); rewrite one !big_set1 v0 scaler0; split=> // i _; rewrite ler01.
Qed.

(* E7, sum 1 dropped (a gate such as a sigmoid): a = 0 gives output 0 without any sink. *)
Theorem E7_total (R : realFieldType) :
  let v (t : bool) := num ((~~ t)%:R : R) in let a (t : bool) : R := 0 in
  [/\ v true = 0, ~ hull [set~ true] v 0, forall j, 0 <= a j, \sum_j a j *: v j = 0 & a true != 1].
Proof.
have n0 : num (0 : R) = 0 by apply/rowP => k; rewrite !mxE.
split=> //; last by rewrite eq_sym oner_eq0.
- by apply: num_off_hull => -[]; rewrite !inE // ltr01.
- by rewrite big1 // => j _; rewrite scale0r.
Qed.

(* E7, one context only (E5): the content key is independent and v_s = -v_1, weights 1/2 and 1/2. *)
Theorem E7_one_context (R : realFieldType) :
  let v (t : bool) := num ((-1) ^+ t : R) in let a (t : bool) : R := 2%:R^-1 in
  [/\ independent [set~ true] v, \sum_j a j = 1, \sum_j a j *: v j = 0 & v true != 0].
Proof.
have [_ [_ a1] h _] := E7_sink_value R; split=> //.
  have one : [set~ true] = [set false] by apply/setP => -[]; rewrite !inE.
  move=> c; rewrite one big_set1 numZ => e i; rewrite inE => /eqP ->.
  by move/rowP: e => /(_ 0); rewrite !mxE expr0 mulr1.
by apply/eqP => /rowP /(_ 0) /eqP; rewrite !mxE expr1 oppr_eq0 oner_eq0.
Qed.

(* E7, finite logits.  Positive weights (a softmax) reach output 0 iff 0 is in the relative interior of the hull of *)
(* all visible values: in the hull, and from 0 one can go a little way beyond, opposite to every point of the hull. *)
Theorem E7_relint (R : realFieldType) (V : lmodType R) (T : finType) (v : T -> V) :
  (exists a : T -> R, [/\ forall j, 0 < a j, \sum_j a j = 1 & \sum_j a j *: v j = 0]) <->
  hull [set: T] v 0 /\ forall y, hull [set: T] v y -> exists2 t : R, 0 < t & hull [set: T] v (- t *: y).
Proof.
have all (W : zmodType) (f : T -> W) : \sum_(j in [set: T]) f j = \sum_j f j.
  by apply: eq_bigl => j; rewrite inE.
have some (a : T -> R) : \sum_j a j = 1 -> exists j0 : T, true.
  move=> a1; have [j _|none] := pickP (fun _ : T => true); first by exists j.
  by have /eqP := oner_neq0 R; case; rewrite -a1 big1 // => j; have := none j.
split=> [[a [a0 a1 h]]|[[b [_ b1 _]] cone]].
  split; first by exists a; rewrite !all; split=> // j _; rewrite ltW.
  move=> y [b [b0 b1 <-]]; rewrite !all in b1 *.
  have [j0 _] := some a a1.
  pose S := \sum_j (a j)^-1; have S0 : 0 < S.
    by rewrite /S (bigD1 j0) //= ltr_spaddl ?invr_gt0 // sumr_ge0 // => j _; rewrite invr_ge0 ltW.
  have tj j : S^-1 <= a j.
    rewrite -[a j]invrK lef_pinv ?posrE ?invr_gt0 // /S (bigD1 j) //= ler_addl sumr_ge0 // => k _.
    by rewrite invr_ge0 ltW.
  have bj j : b j <= 1 by rewrite -b1 (bigD1 j) //= ler_addl sumr_ge0 // => k _; rewrite b0 ?inE.
  have t0 : 0 < S^-1 by rewrite invr_gt0.
  exists S^-1 => //; exists (fun j => (1 + S^-1) * a j - S^-1 * b j); rewrite !all; split.
  - move=> j _; rewrite subr_ge0 mulrDl mul1r; apply: le_trans (_ : S^-1 <= _).
      by rewrite ger_pmulr.
    by apply: le_trans (tj j) _; rewrite ler_addl mulr_ge0 ?ltW.
  - by rewrite sumrB -!mulr_sumr a1 b1; ring.
  - rewrite (eq_bigr (fun j => (1 + S^-1) *: (a j *: v j) - S^-1 *: (b j *: v j))) => [|j _].
      by rewrite sumrB -!scaler_sumr h scaler0 sub0r scaleNr.
    by rewrite scalerBl !scalerA.
rewrite all in b1; have [j0 _] := some b b1.
have n0 : 0 < #|T|%:R :> R by rewrite ltr0n; apply/card_gt0P; exists j0.
pose w : R := #|T|%:R^-1; have w0 : 0 < w by rewrite invr_gt0.
have w1 : \sum_(j : T) w = 1 by rewrite sumr_const -mulr_natl divff // gt_eqF.
have [|t t0 [c [c0 c1 h]]] := cone (\sum_j w *: v j).
  by exists (fun=> w); rewrite !all; split=> // j _; rewrite ltW.
rewrite !all in c1 h; have p : 0 < 1 + t by rewrite addr_gt0 ?ltr01.
exists (fun j => (c j + t * w) / (1 + t)); split.
- by move=> j; rewrite divr_gt0 // ltr_spaddr ?mulr_gt0 // c0 ?inE.
- by rewrite -mulr_suml big_split /= c1 -mulr_sumr w1 mulr1 divff // gt_eqF.
- rewrite (eq_bigr (fun j => (1 + t)^-1 *: (c j *: v j + t *: (w *: v j)))) => [|j _].
    by rewrite -scaler_sumr big_split /= h -(scaler_sumr t) -scalerDl addNr scale0r scaler0.
  by rewrite scalerA -scalerDl scalerA mulrC.
Qed.
