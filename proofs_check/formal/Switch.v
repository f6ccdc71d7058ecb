(* Family E: a head is switched off at a query exactly when its attention is on the sink.                           *)
(*                                                                                                                  *)
(* T is the finite type of keys the row sees, s the sink, v j the value of key j, a j its weight; the output is     *)
(* sum_j a j *: v j.  Conclusions about attention are stated weight by weight: a j = 1 if j is the sink, else 0.    *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From sinkproof Require Import Hulls.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* Linear independence of a finite family, as a family: a repeated vector makes it dependent. *)
Definition independent (F : fieldType) (V : lmodType F) (I : finType) (A : {set I}) (v : I -> V) : Prop :=
  forall c : I -> F, \sum_(i in A) c i *: v i = 0 -> forall i, i \in A -> c i = 0.

(* With a null sink value, the output is that of the content keys. *)
Lemma output_content (F : fieldType) (V : lmodType F) (T : finType) (v : T -> V) (s : T) (a : T -> F) :
  v s = 0 -> \sum_j a j *: v j = \sum_(j in [set~ s]) a j *: v j.
Proof.
move=> vs; rewrite (bigD1 s) //= vs scaler0 add0r.
by apply: eq_bigl => j; rewrite !inE.
Qed.

Lemma mass_content (F : fieldType) (T : finType) (s : T) (a : T -> F) :
  \sum_j a j = a s + \sum_(j in [set~ s]) a j.
Proof. by rewrite (bigD1 s) //=; congr (_ + _); apply: eq_bigl => j; rewrite !inE. Qed.

(* All content weights vanish and the total is 1: the attention is e_s. *)
Lemma all_on_sink (F : fieldType) (T : finType) (s : T) (a : T -> F) :
  \sum_j a j = 1 -> (forall j, j \in [set~ s] -> a j = 0) -> forall j, a j = (j == s)%:R.
Proof.
move=> a1 h j; have [->|js] := eqVneq j s; last by rewrite h // !inE.
by rewrite -a1 (mass_content s) big1 ?addr0 // => k /h.
Qed.

Lemma output_on_sink (F : fieldType) (V : lmodType F) (T : finType) (v : T -> V) (s : T) (a : T -> F) :
  v s = 0 -> (forall j, a j = (j == s)%:R) -> \sum_j a j *: v j = 0.
Proof.
move=> vs h; rewrite (output_content _ vs) big1 // => j; rewrite !inE h => /negbTE ->.
by rewrite scale0r.
Qed.

(* E1, over any field.  v_s = 0, the content values independent as a family, weights that sum to 1 (of any sign):   *)
(* the output is 0 iff the attention is e_s.                                                                        *)
Theorem E1 (F : fieldType) (V : lmodType F) (T : finType) (v : T -> V) (s : T) (a : T -> F) :
  v s = 0 -> independent [set~ s] v -> \sum_j a j = 1 ->
  (\sum_j a j *: v j = 0 <-> forall j, a j = (j == s)%:R).
Proof.
move=> vs ind a1; split=> [|]; last exact: output_on_sink.
by rewrite (output_content _ vs) => /ind; apply: all_on_sink.
Qed.

(* E2.  v_s = 0.  "On the simplex, output 0 forces a = e_s" holds iff 0 is not in the hull of the content values,   *)
(* iff some u has <u, v_j> > 0 for every content key j.                                                             *)
Theorem E2 (R : realFieldType) (d : nat) (T : finType) (v : T -> 'rV[R]_d) (s : T) :
  v s = 0 ->
  ((forall a : T -> R, (forall j, 0 <= a j) -> \sum_j a j = 1 -> \sum_j a j *: v j = 0 ->
     forall j, a j = (j == s)%:R) <-> ~ hull [set~ s] v 0) /\
  (~ hull [set~ s] v 0 <-> exists u, forall j, j != s -> 0 < dot u (v j)).
Proof.
move=> vs; split; last first.
  split=> [/half_space[u pos]|[u pos]].
    by exists u => j js; rewrite dotC pos // !inE.
  by apply/half_space; exists u => j; rewrite !inE dotC; apply: pos.
split=> [switch [a [a0 a1 h]]|out a a0 a1].
  pose b j := if j == s then 0 else a j.
  have bE : {in [set~ s], b =1 a} by move=> j; rewrite !inE /b => /negbTE ->.
  have b1 : \sum_j b j = 1.
    by rewrite (@mass_content R T s) {1}/b eqxx add0r -a1; apply: eq_bigr.
  have : b s = 1.
    rewrite (switch b) ?eqxx // => [j|]; first by rewrite /b; case: eqVneq => // js; rewrite a0 // !inE.
    by rewrite (output_content _ vs) -[RHS]h; apply: eq_bigr => j /bE ->.
  by rewrite /b eqxx => /eqP; rewrite eq_sym oner_eq0.
rewrite (output_content _ vs) => h; apply: all_on_sink => // j jC.
have c0 : 0 <= \sum_(k in [set~ s]) a k by apply: sumr_ge0.
have [z|p] := eqVneq (\sum_(k in [set~ s]) a k) 0.
  by move/eqP: z; rewrite psumr_eq0 // => /allP /(_ j (mem_index_enum j)); rewrite jC => /eqP.
case: out; exists (fun k => a k / \sum_(l in [set~ s]) a l); split.
- by move=> k _; rewrite divr_ge0.
- by rewrite -mulr_suml divff.
- transitivity ((\sum_(l in [set~ s]) a l)^-1 *: \sum_(k in [set~ s]) a k *: v k); last by rewrite h scaler0.
  by rewrite scaler_sumr; apply: eq_bigr => k _; rewrite scalerA mulrC.
Qed.

(* E8.  E2's hypotheses and at least one content key: positive weights (finite logits through a softmax) never give *)
(* output 0.                                                                                                        *)
Theorem E8 (R : realFieldType) (d : nat) (T : finType) (v : T -> 'rV[R]_d) (s : T) (a : T -> R) :
  v s = 0 -> ~ hull [set~ s] v 0 -> (exists j, j != s) ->
  (forall j, 0 < a j) -> \sum_j a j = 1 -> \sum_j a j *: v j != 0.
Proof.
move=> vs out [j js] a0 a1; apply/eqP => h.
have := a0 j; have /(_ a) -> // := ((E2 vs).1).2 out; last by move=> k; rewrite ltW.
by rewrite (negbTE js) ltxx.
Qed.

Definition in_span (F : fieldType) (V : lmodType F) (T : finType) (x : T -> V) (z : V) : Prop :=
  exists c : T -> F, z = \sum_j c j *: x j.

(* E4.  Keys x_j of all visible tokens (sink included), value matrix V, o = sum_j a_j x_j V.  If |cV|^2 is at least *)
(* sigma^2 |c|^2 on the span of the keys (sigma up to sigma_min) and every point of their hull has squared norm at  *)
(* least dist^2 (dist up to dist(0, conv)), then |o|^2 >= (sigma dist)^2 for every attention: no kernel, no switch. *)
Theorem E4 (R : realFieldType) (d e : nat) (T : finType) (x : T -> 'rV[R]_d) (V : 'M[R]_(d, e)) (sigma dist : R)
    (a : T -> R) :
  (forall z, in_span x z -> sigma ^+ 2 * dot z z <= dot (z *m V) (z *m V)) ->
  (forall z, hull [set: T] x z -> dist ^+ 2 <= dot z z) ->
  (forall j, 0 <= a j) -> \sum_j a j = 1 ->
  forall o, o = \sum_j a j *: (x j *m V) -> (sigma * dist) ^+ 2 <= dot o o.
Proof.
move=> hs hd a0 a1 o ->; pose z := \sum_j a j *: x j.
have -> : \sum_j a j *: (x j *m V) = z *m V by rewrite mulmx_suml; apply: eq_bigr => j _; rewrite scalemxAl.
have span : in_span x z by exists a.
apply: le_trans (hs z span); rewrite exprMn ler_wpmul2l ?sqr_ge0 // hd //.
by exists a; split=> //; [rewrite -a1|]; apply: eq_bigl => j; rewrite inE.
Qed.

(* If <p, v_i> >= <p, p> for all i, no point of the hull is nearer to 0 than p. *)
Lemma nearest_distance (R : realFieldType) (d : nat) (I : finType) (A : {set I}) (v : I -> 'rV[R]_d) (p z : 'rV[R]_d) :
  (forall i, i \in A -> dot p p <= dot p (v i)) -> hull A v z -> dot p p <= dot z z.
Proof.
move=> near [b [b0 b1 <-]]; set q := \sum_(i in A) _.
have pq : dot p p <= dot p q.
  rewrite dot_sumr -[X in X <= _]mul1r -b1 mulr_suml; apply: ler_sum => i iA.
  by rewrite dotZr ler_wpmul2l ?b0 ?near.
have [->|p0] := eqVneq (dot p p) 0; first exact: dot_ge0.
have pp : 0 < dot p p by rewrite lt_def p0 dot_ge0.
rewrite -(ler_pmul2l pp); apply: le_trans (cauchy_schwarz p q).
by rewrite -expr2 ler_expn2r ?nnegrE ?dot_ge0 // (le_trans (dot_ge0 p)).
Qed.

(* E4 with the nearest point in hand: p = sum_j w_j x_j, w >= 0 of sum 1, and <p, x_j> >= <p, p> for all j, which   *)
(* makes |p| the distance of 0 from the hull; dist is at most |p|.                                                  *)
Theorem E4_nearest (R : realFieldType) (d e : nat) (T : finType) (x : T -> 'rV[R]_d) (V : 'M[R]_(d, e))
    (sigma dist : R) (w a : T -> R) (p : 'rV[R]_d) :
  (forall z, in_span x z -> sigma ^+ 2 * dot z z <= dot (z *m V) (z *m V)) ->
  (forall j, 0 <= w j) -> \sum_j w j = 1 -> p = \sum_j w j *: x j -> (forall j, dot p p <= dot p (x j)) ->
  dist ^+ 2 <= dot p p -> (forall j, 0 <= a j) -> \sum_j a j = 1 ->
  forall o, o = \sum_j a j *: (x j *m V) -> (sigma * dist) ^+ 2 <= dot o o.
Proof.
move=> hs _ _ _ near hd a0 a1; apply: (E4 hs _ a0 a1) => z h; apply: le_trans hd _.
by apply: nearest_distance h => j _; apply: near.
Qed.

(* E4, positivity: if 0 is outside the hull of all visible keys, it is at a positive distance; so with sigma > 0 no *)
(* attention gives output 0.                                                                                        *)
Theorem E4_positive (R : realFieldType) (d e : nat) (T : finType) (x : T -> 'rV[R]_d) (V : 'M[R]_(d, e))
    (sigma : R) (a : T -> R) :
  0 < sigma ->
  (forall z, in_span x z -> sigma ^+ 2 * dot z z <= dot (z *m V) (z *m V)) ->
  ~ hull [set: T] x 0 -> (forall j, 0 <= a j) -> \sum_j a j = 1 ->
  (exists2 c : R, 0 < c & forall z, hull [set: T] x z -> c <= dot z z) /\ \sum_j a j *: (x j *m V) != 0.
Proof.
move=> s0 hs out a0 a1.
have pos z : hull [set: T] x z -> 0 < dot z z.
  by move=> h; rewrite dot_gt0; apply/eqP => z0; apply: out; rewrite -z0.
split.
  have [[u margin]|/out[]] := gordan [set: T] x.
  have uu z : hull [set: T] x z -> 1 <= dot z u.
    case=> b [b0 b1 <-]; rewrite dot_suml -b1; apply: ler_sum => j jT.
    by rewrite dotZl -{1}[b j]mulr1 ler_wpmul2l ?b0 ?margin.
  have hz : hull [set: T] x (\sum_j a j *: x j).
    by exists a; split=> //; [rewrite -a1|]; apply: eq_bigl => j; rewrite inE.
  have u0 : 0 < dot u u.
    rewrite dot_gt0; apply/eqP => u0; have := uu _ hz.
    by rewrite u0 dot0r leNgt ltr01.
  exists (dot u u)^-1 => [|z h]; first by rewrite invr_gt0.
  rewrite -div1r ler_pdivr_mulr //; apply: le_trans (cauchy_schwarz z u).
  by rewrite expr_ge1 ?uu // (le_trans ler01) ?uu.
apply/eqP => o0; pose z := \sum_j a j *: x j.
have hz : hull [set: T] x z.
  by exists a; split=> //; [rewrite -a1|]; apply: eq_bigl => j; rewrite inE.
have : z *m V = 0 by rewrite -o0 mulmx_suml; apply: eq_bigr => j _; rewrite scalemxAl.
move=> zV; have span : in_span x z by exists a.
have := hs z span; rewrite zV dot0l leNgt pmulr_rgt0 ?pos //.
by rewrite exprn_gt0.
Qed.

(* The hypotheses of E1 can be met: one content key with value 1, any weights of sum 1. *)
Lemma E1_satisfiable (F : fieldType) :
  exists (v : bool -> 'rV[F]_1) (a : bool -> F),
    [/\ v true = 0, independent [set~ true] v & \sum_j a j = 1].
Proof.
exists (fun t => if t then 0 else const_mx 1), (fun t => t%:R); split=> [//|c h i|].
  rewrite !inE => it; move/rowP: h => /(_ 0); rewrite (big_pred1 false) => [|[]]; rewrite ?inE //.
  by rewrite !mxE mulr1; case: i it.
by rewrite big_bool /= addr0.
Qed.

(* The hypotheses of E2 and E8 can be met: one content key with value 1, weights 1/2 and 1/2. *)
Lemma E8_satisfiable (R : realFieldType) :
  exists (v : bool -> 'rV[R]_1) (a : bool -> R),
    [/\ v true = 0, ~ hull [set~ true] v 0, forall j, 0 < a j & \sum_j a j = 1].
Proof.
exists (fun t => if t then 0 else const_mx 1), (fun=> 2%:R^-1); split=> // [|j|].
- apply/half_space; exists (const_mx 1) => -[]; rewrite !inE // => _.
  by rewrite /dot big_ord1 !mxE mulr1 ltr01.
- by rewrite invr_gt0 ltr0Sn.
- by rewrite big_bool /=; field.
Qed.

(* The hypotheses of E4 can be met: both keys 1, V = 1, sigma = dist = 1. *)
Lemma E4_satisfiable (R : realFieldType) :
  exists (x : bool -> 'rV[R]_1) (V : 'M[R]_1),
    [/\ forall z, in_span x z -> 1 ^+ 2 * dot z z <= dot (z *m V) (z *m V),
        forall z, hull [set: bool] x z -> 1 ^+ 2 <= dot z z & ~ hull [set: bool] x 0].
Proof.
exists (fun=> const_mx 1), 1%:M; split=> [z _|z|]; first by rewrite mulmx1 expr1n mul1r.
  case=> a [_ a1 <-]; rewrite -scaler_suml a1 scale1r /dot big_ord1 !mxE expr1n mulr1.
  exact: lexx.
case=> a [_ a1]; rewrite -scaler_suml a1 scale1r => /rowP /(_ 0) /eqP.
by rewrite !mxE oner_eq0.
Qed.

(* The hypotheses of E4_nearest can be met: two keys 1, V = 1, w = a = (1/2, 1/2), p = 1, sigma = dist = 1. *)
Lemma E4_nearest_satisfiable (R : realFieldType) :
  exists (x : bool -> 'rV[R]_1) (V : 'M[R]_1) (w : bool -> R) (p : 'rV[R]_1),
    [/\ forall z, in_span x z -> 1 ^+ 2 * dot z z <= dot (z *m V) (z *m V), forall j, 0 <= w j, \sum_j w j = 1,
        p = \sum_j w j *: x j & (forall j, dot p p <= dot p (x j)) /\ 1 ^+ 2 <= dot p p].
Proof.
exists (fun=> const_mx 1), 1%:M, (fun=> 2%:R^-1), (const_mx 1); split=> [z _|j|||].
- by rewrite mulmx1 expr1n mul1r.
- by rewrite invr_ge0 ler0n.
- by rewrite big_bool /=; field.
- by rewrite -scaler_suml big_bool /= (_ : _ + _ = 1) ?scale1r //; field.
- by split=> [j|]; rewrite ?lexx // /dot big_ord1 !mxE expr1n mulr1 lexx.
Qed.
