(* Negations of false variants of the statements: each says that the theorem with one hypothesis dropped or one sign  *)
(* changed is false, by a concrete counterexample over the rationals.  mutants.json pairs each with its variant, and  *)
(* the check that the pairing is right is made by Rocq (see mutants.py).                                              *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From sinkproof Require Import Hulls Geometry Sphere Mass Switch Output Contexts Soft Sharpness.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* The rationals, opaque: the proofs below must not compute with fractions. *)
Definition Rat : realFieldType. Proof. exact: [realFieldType of rat]. Qed.

Local Notation R := Rat.
Local Notation Bool := [finType of bool].
Local Notation Unit := [finType of unit].
Local Notation OBool := [finType of option bool].

Lemma ne1 (T : finType) (i : T) : [set i] != set0.
Proof. by apply/set0Pn; exists i; rewrite inE. Qed.

Lemma hull1 (F : realFieldType) (V : lmodType F) (I : finType) (v : I -> V) (i : I) : hull [set i] v (v i).
Proof. by exists (fun=> 1); rewrite !big_set1 scale1r; split=> // j _; rewrite ler01. Qed.

Lemma hull1_inv (F : realFieldType) (V : lmodType F) (I : finType) (v : I -> V) (i : I) (z : V) :
  hull [set i] v z -> z = v i.
Proof. by case=> a [_]; rewrite !big_set1 => -> <-; rewrite scale1r. Qed.

Lemma hull0 (F : realFieldType) (V : lmodType F) (I : finType) (v : I -> V) (z : V) : ~ hull set0 v z.
Proof. by case=> a [_]; rewrite big_set0 => /eqP; rewrite eq_sym oner_eq0. Qed.

Lemma dot_num (F : fieldType) (a b : F) : dot (num a) (num b) = a * b.
Proof. by rewrite /dot big_ord1 !numE. Qed.

Lemma two_one : (2%:R == 1 :> R) = false. Proof. by rewrite (eqr_nat _ 2 1). Qed.

Lemma half01 : 0 < 2%:R^-1 :> R /\ 2%:R^-1 < 1 :> R.
Proof. by rewrite invr_gt0 ltr0n invf_lt1 ?ltr0n // (ltr_nat _ 1 2). Qed.

Lemma numB (F : ringType) (a b : F) : num a - num b = num (a - b).
Proof. by apply/rowP => k; rewrite !mxE. Qed.

(* False: Q may be empty. *)
Lemma G1_empty_queries : ~ (
  forall (R : realFieldType) (d : nat) (T : finType) (x : T -> 'rV[R]_d) (s : T) (Q K : {set T}), K != set0 ->
  (exists W : 'M[R]_d, forall i j, i \in Q -> j \in K -> 1 <= form W (x i) (x s - x j)) <->
  ~ hull Q x 0 /\ ~ hull K x (x s)).
Proof.
move=> /(_ R 1%N Bool (fun=> 0) true set0 [set true] (ne1 true)) [h _].
case: h => [|_ out]; first by exists 0 => i j; rewrite inE.
by apply: out; apply: hull1.
Qed.

(* False: K may be empty. *)
Lemma G1_empty_keys : ~ (
  forall (R : realFieldType) (d : nat) (T : finType) (x : T -> 'rV[R]_d) (s : T) (Q K : {set T}), Q != set0 ->
  (exists W : 'M[R]_d, forall i j, i \in Q -> j \in K -> 1 <= form W (x i) (x s - x j)) <->
  ~ hull Q x 0 /\ ~ hull K x (x s)).
Proof.
move=> /(_ R 1%N Bool (fun=> 0) true [set true] set0 (ne1 true)) [h _].
case: h => [|out _]; first by exists 0 => i j _; rewrite inE.
by apply: out; apply: hull1.
Qed.

(* False: 0 in place of x_s against the hull of the keys. *)
Lemma G1_origin_for_sink : ~ (
  forall (R : realFieldType) (d : nat) (T : finType) (x : T -> 'rV[R]_d) (s : T) (Q K : {set T}), Q != set0 -> K != set0 ->
  (exists W : 'M[R]_d, forall i j, i \in Q -> j \in K -> 1 <= form W (x i) (x s - x j)) <->
  ~ hull Q x 0 /\ ~ hull K x 0).
Proof.
move=> /(_ R 1%N Bool (fun=> num 1) true [set true] [set true] (ne1 true) (ne1 true)) [_ h].
have out : ~ hull [set true] (fun _ : bool => num (1 : R)) 0 by apply: num_off_hull => i _; apply: ltr01.
have [W /(_ true true)] := h (conj out out).
by rewrite !inE subrr /form dot0r ler10 => /(_ isT isT).
Qed.

(* False: rank zero suffices. *)
Lemma G1_rank_zero : ~ (
  forall (R : realFieldType) (d : nat) (T : finType) (x : T -> 'rV[R]_d) (s : T) (Q K : {set T}), ~ hull Q x 0 -> ~ hull K x (x s) ->
  exists W : 'M[R]_d, (\rank W <= 0)%N /\ forall i j, i \in Q -> j \in K -> 1 <= form W (x i) (x s - x j)).
Proof.
pose x (t : bool) : 'rV[R]_1 := num (if t then 2%:R else 1).
move=> /(_ R 1%N Bool x true [set false] [set false]) [||W [rank0 /(_ false false)]].
- by apply: num_off_hull => -[]; rewrite inE // => _; apply: ltr01.
- by move=> /hull1_inv /num_inj /eqP; rewrite two_one.
have -> : W = 0 by apply/eqP; rewrite -mxrank_eq0 -leqn0.
by rewrite !inE /form mulmx0 dot0l ler10 => /(_ isT isT).
Qed.

(* False: Q may be empty with a query bias. *)
Lemma G1_bias_empty_queries : ~ (
  forall (R : realFieldType) (d : nat) (T : finType) (x : T -> 'rV[R]_d) (s : T) (Q K : {set T}), True ->
  (exists (W : 'M[R]_d) (b : 'rV[R]_d),
     forall i j, i \in Q -> j \in K -> 1 <= form W (x i) (x s - x j) + dot b (x s - x j)) <->
  ~ hull K x (x s)).
Proof.
move=> /(_ R 1%N Bool (fun=> 0) true set0 [set true] I) [h _].
by case: h => [|]; [exists 0, 0 => i j; rewrite inE | apply: hull1].
Qed.

(* False: the hull condition without its negation. *)
Lemma G2_no_negation : ~ (
  forall (R : realFieldType) (d : nat) (T : finType) (x : T -> 'rV[R]_d) (s : T) (P : {set T * T}), (exists W : 'M[R]_d, forall p, p \in P -> 1 <= form W (x p.1) (x s - x p.2)) <->
  hull P (fun p => (x p.1)^T *m (x s - x p.2)) 0).
Proof.
move=> /(_ R 1%N Bool (fun=> 0) true set0) [h _].
by apply: (hull0 (h _)); exists 0 => p; rewrite inE.
Qed.

(* False: a key may coincide with the sink. *)
Lemma G3_repeated_sink : ~ (
  forall (R : realFieldType) (d : nat) (T : finType) (n : T -> 'rV[R]_d) (G : 'M[R]_d) (b : 'rV[R]_d)
    (s : T) (Q K : {set T}), let x j := n j *m G^T + b in
  let represented := exists W : 'M[R]_d, forall i j, i \in Q -> j \in K -> 1 <= form W (x i) (x s - x j) in
  Q != set0 -> K != set0 -> G \in unitmx ->
  (forall j, j \in K -> dot (n j) (n j) = dot (n s) (n s) ) ->
  (represented <-> exists u, forall i, i \in Q -> 0 < dot (x i) u) /\
  (represented <-> ~ hull Q (fun i => n i *m G^T) (- b))).
Proof.
move=> /(_ R 1%N Bool (fun=> num 1) 1%:M 0 true [set true] [set true] (ne1 true) (ne1 true) (unitmx1 _ _)) [//|[_ h] _].
case: h => [|W /(_ true true)].
  by exists (num 1) => i _; rewrite trmx1 mulmx1 addr0 dot_num mulr1 ltr01.
by rewrite !inE subrr /form dot0r ler10 => /(_ isT isT).
Qed.

(* False: mu/r in place of mu/(2r). *)
Lemma G3_distance_without_2 : ~ (
  forall (R : realFieldType) (d : nat) (T : finType) (n : T -> 'rV[R]_d) (b : 'rV[R]_d)
    (s : T) (K : {set T}) (r mu : R) (z : 'rV[R]_d), let x j := n j + b in
  0 < r -> dot (n s) (n s) = r ^+ 2 -> (forall j, j \in K -> dot (n j) (n j) = r ^+ 2) ->
  0 <= mu -> (forall j, j \in K -> mu <= dot (x s - x j) (x s - x j)) -> hull K x z ->
  (mu / r) ^+ 2 <= dot (x s - z) (x s - z)).
Proof.
pose n (t : bool) : 'rV[R]_1 := num (if t then 1 else -1).
have ss : dot (n true) (n true) = 1 ^+ 2 by rewrite dot_num.
have sK j : j \in [set false] -> dot (n j) (n j) = 1 ^+ 2.
  by rewrite inE => /eqP ->; rewrite dot_num; ring.
have dist : dot (num 1 - num (-1)) (num 1 - num (-1)) = 4%:R :> R by rewrite numB dot_num; ring.
have far j : j \in [set false] -> 4%:R <= dot (n true + 0 - (n j + 0)) (n true + 0 - (n j + 0)).
  by rewrite inE => /eqP ->; rewrite !addr0 dist lexx.
have hz : hull [set false] (fun j => n j + 0) (num (-1)).
  by exists (fun=> 1); rewrite !big_set1 scale1r addr0; split=> // j _; apply: ler01.
move=> h; have := h R 1%N Bool n 0 true [set false] 1 4%:R (num (-1)) ltr01 ss sK (ler0n _ 4) far hz.
by rewrite addr0 dist divr1 -natrX ler_nat.
Qed.

(* False: the sign need not be strict. *)
Lemma G4_weak_sign : ~ (
  forall (R : realFieldType) (d : nat) (T : finType) (n : T -> 'rV[R]_d) (G : 'M[R]_d) (s : T) (Q K : {set T})
    (sg : R) (i j : T), let x t := n t *m G^T in
  let W := sg *: ((x s)^T *m (n s *m invmx G)) in
  G \in unitmx -> sg = 1 \/ sg = -1 ->
  (forall k, k \in Q -> 0 <= sg * dot (x s) (x k)) ->
  (forall k, k \in K -> dot (n k) (n k) = dot (n s) (n s)) ->
  i \in Q -> j \in K -> n j != n s ->
  form W (x i) (x s - x j) = `|dot (x s) (x i)| * (dot (n s - n j) (n s - n j) / 2%:R) /\
  0 < form W (x i) (x s - x j)).
Proof.
pose n (t : option bool) : 'rV[R]_1 := num (if t is Some b then if b then -1 else 0 else 1).
move=> /(_ R 1%N OBool n 1%:M None [set Some false] [set Some true] 1 (Some false) (Some true)) [].
- exact: unitmx1.
- by left.
- by move=> k; rewrite inE => /eqP ->; rewrite trmx1 !mulmx1 !dot_num !mulr0 lexx.
- by move=> k; rewrite inE => /eqP ->; rewrite !dot_num; ring.
- by rewrite inE.
- by rewrite inE.
- apply/eqP => /num_inj /eqP; rewrite -subr_eq0 (_ : -1 - 1 = - 2%:R) ?oppr_eq0 ?pnatr_eq0 //; ring.
- by move=> _; rewrite formZ form_outer trmx1 !mulmx1 dot_num !mul0r mulr0 ltxx.
Qed.

(* False: keys off the sink's sphere. *)
Lemma G4_off_sphere : ~ (
  forall (R : realFieldType) (d : nat) (T : finType) (n : T -> 'rV[R]_d) (G : 'M[R]_d) (s : T) (Q K : {set T})
    (sg : R) (i j : T), let x t := n t *m G^T in
  let W := sg *: ((x s)^T *m (n s *m invmx G)) in
  G \in unitmx -> sg = 1 \/ sg = -1 ->
  (forall k, k \in Q -> 0 < sg * dot (x s) (x k)) ->
  i \in Q -> j \in K -> n j != n s ->
  form W (x i) (x s - x j) = `|dot (x s) (x i)| * (dot (n s - n j) (n s - n j) / 2%:R) /\
  0 < form W (x i) (x s - x j)).
Proof.
pose n (t : bool) : 'rV[R]_1 := num (if t then 1 else 2%:R).
move=> /(_ R 1%N Bool n 1%:M true [set true] [set false] 1 true false) [].
- exact: unitmx1.
- by left.
- by move=> k; rewrite inE => /eqP ->; rewrite trmx1 !mulmx1 !dot_num !mulr1 ltr01.
- by rewrite inE.
- by rewrite inE.
- by apply/eqP => /num_inj /eqP; rewrite two_one.
- move=> _; rewrite formZ form_outer trmx1 invmx1 !mulmx1 numB !dot_num.
  by rewrite (_ : 1 * _ = -1) ?ltr0N1 //; ring.
Qed.

(* False: strict bound. *)
Lemma G5_strict : ~ (
  forall (R : realFieldType) (K : finType) (zs : R) (z : K -> R) (t : R), 0 < zs -> (forall j, 0 < z j) -> (forall j, z j / zs <= t) ->
  1 / (1 + #|K|%:R * t) < mass zs z /\
  (mass zs z = 1 / (1 + #|K|%:R * t) <-> forall j, z j / zs = t)).
Proof.
move=> /(_ R Unit 1 (fun=> 1) 1 ltr01 (fun=> ltr01)) [j|]; first by rewrite divr1.
by rewrite /mass sumr_const !card_unit !mulr1n mulr1 ltxx.
Qed.

(* False: margins at most m. *)
Lemma G5_reversed : ~ (
  forall (R : realFieldType) (K : finType) (zs : R) (z : K -> R) (t : R), 0 < zs -> (forall j, 0 < z j) -> (forall j, t <= z j / zs) ->
  1 / (1 + #|K|%:R * t) <= mass zs z /\
  (mass zs z = 1 / (1 + #|K|%:R * t) <-> forall j, z j / zs = t)).
Proof.
move=> /(_ R Unit 1 (fun=> 2%:R) 1 ltr01) [_|j|].
- by rewrite ltr0n.
- by rewrite divr1 ler1n.
rewrite /mass sumr_const !card_unit mulr1n mulr1 !div1r lef_pinv ?posrE ?addr_gt0 ?ltr01 ?ltr0n // ler_add2l.
by rewrite (ler_nat _ 2 1).
Qed.

(* False: each margin at least L + log n. *)
Lemma G5_mass_log_n : ~ (
  forall (R : realFieldType) (K : finType) (zs : R) (z : K -> R) (eps : R) (j : K), 0 < zs -> (forall k, 0 < z k) -> eps < 1 -> 1 - eps <= mass zs z -> z j / zs <= eps / (1 - eps) / #|K|%:R).
Proof.
have [e0 e1] := half01.
have [z [z0 zm zt]] := G5_not_more e0 e1.
move=> /(_ R Bool 1 z 2%:R^-1 true ltr01 z0 e1 zm).
by rewrite card_bool leNgt zt.
Qed.

(* False: weights need not sum to 1. *)
Lemma E1_no_total : ~ (
  forall (F : fieldType) (V : lmodType F) (T : finType) (v : T -> V) (s : T) (a : T -> F), v s = 0 -> independent [set~ s] v -> True ->
  (\sum_j a j *: v j = 0 <-> forall j, a j = (j == s)%:R)).
Proof.
have [v [_ [vs ind _]]] := E1_satisfiable R.
move=> /(_ _ _ _ v true (fun=> 0) vs ind I) [h _].
have /(_ _ true) := h; rewrite big1 => [/(_ erefl) /eqP|j _]; last by rewrite scale0r.
by rewrite eq_sym oner_eq0.
Qed.

(* False: weights of any sign. *)
Lemma E2_signs : ~ (
  forall (R : realFieldType) (d : nat) (T : finType) (v : T -> 'rV[R]_d) (s : T), v s = 0 ->
  ((forall a : T -> R, \sum_j a j = 1 -> \sum_j a j *: v j = 0 ->
     forall j, a j = (j == s)%:R) <-> ~ hull [set~ s] v 0) /\
  (~ hull [set~ s] v 0 <-> exists u, forall j, j != s -> 0 < dot u (v j))).
Proof.
have [v [a [vs out a1 o aN]]] : exists (v : option bool -> 'rV[R]_1) (a : option bool -> R),
    [/\ v None = 0, ~ hull [set~ None] v 0, \sum_j a j = 1, \sum_j a j *: v j = 0 & a None = 0].
  by do 2 eexists; apply: (E7_signs R).
move=> /(_ _ _ _ _ _ vs) [[_ h] _]; have := h out _ a1 o None.
by rewrite aN => /eqP; rewrite eq_sym oner_eq0.
Qed.

(* False: the half-space contains the sink's value too. *)
Lemma E2_sink_in_half_space : ~ (
  forall (R : realFieldType) (d : nat) (T : finType) (v : T -> 'rV[R]_d) (s : T), v s = 0 ->
  ((forall a : T -> R, (forall j, 0 <= a j) -> \sum_j a j = 1 -> \sum_j a j *: v j = 0 ->
     forall j, a j = (j == s)%:R) <-> ~ hull [set~ s] v 0) /\
  (~ hull [set~ s] v 0 <-> exists u, forall j, 0 < dot u (v j))).
Proof.
have [v [_ [vs out _ _]]] := E8_satisfiable R.
move=> /(_ _ _ _ _ _ vs) [_ [h _]]; have [u /(_ true)] := h out.
by rewrite vs dot0r ltxx.
Qed.

(* False: no content key. *)
Lemma E8_no_content : ~ (
  forall (R : realFieldType) (d : nat) (T : finType) (v : T -> 'rV[R]_d) (s : T) (a : T -> R), v s = 0 -> ~ hull [set~ s] v 0 -> True ->
  (forall j, 0 < a j) -> \sum_j a j = 1 -> \sum_j a j *: v j != 0).
Proof.
move=> h; have a1 : \sum_(t : unit) 1 = 1 :> R by rewrite sumr_const card_unit.
have out : ~ hull [set~ tt] (fun _ : unit => 0 : 'rV[R]_1) 0.
  by have -> : [set~ tt] = set0 by [apply/setP => -[]; rewrite !inE]; apply: hull0.
have /negP[] := h R 1%N Unit (fun=> 0) tt (fun=> 1) erefl out I (fun _ => ltr01) a1.
by rewrite big1 // => j _; rewrite scaler0.
Qed.

(* False: weights may vanish. *)
Lemma E8_weak_weights : ~ (
  forall (R : realFieldType) (d : nat) (T : finType) (v : T -> 'rV[R]_d) (s : T) (a : T -> R), v s = 0 -> ~ hull [set~ s] v 0 -> (exists j, j != s) ->
  (forall j, 0 <= a j) -> \sum_j a j = 1 -> \sum_j a j *: v j != 0).
Proof.
have [v [_ [vs out _ _]]] := E8_satisfiable R.
have a1 : \sum_(t : bool) t%:R = 1 :> R by rewrite sum_bool addr0.
move=> h; have /negP[] := h _ _ Bool v true (fun t : bool => t%:R) vs out (ex_intro _ false isT) (fun t : bool => ler0n _ t) a1.
by rewrite sum_bool vs scaler0 scale0r addr0.
Qed.

(* False: a content key may be in every context. *)
Lemma E5_common_key : ~ (
  forall (F : fieldType) (V : lmodType F) (T C : finType) (v : T -> V) (s : T) (S : C -> {set T}) (a : C -> T -> F), independent [set~ s] v -> (0 < #|C|)%N ->
  (forall r j, j \notin S r -> a r j = 0) -> (forall r, \sum_j a r j = 1) -> (forall r, \sum_j a r j *: v j = 0) ->
  v s = 0 /\ forall r j, a r j = (j == s)%:R).
Proof.
have [ind a1 o vs] := E7_one_context R.
move=> /(_ _ _ Bool Unit _ true (fun=> setT) (fun _ _ => 2%:R^-1) ind) [||r|r|v0 _].
- by rewrite card_unit.
- by move=> r j; rewrite inE.
- exact: a1.
- exact: o.
- by move: vs; rewrite v0 eqxx.
Qed.

(* False: dependent targets. *)
Lemma E6_dependent_targets : ~ (
  forall (F : fieldType) (n d : nat) (VV : 'M[F]_(n.+1, d)) (t : 'M[F]_(n, d)) (B : 'M[F]_(n, n.+1))
    (C : finType) (S : C -> {set 'I_n.+1}) (a : C -> 'rV[F]_n.+1), t = B *m VV -> (0 < #|C|)%N ->
  (forall r j, j \notin S r -> a r 0 j = 0) -> (forall r, \sum_j a r 0 j = 1) -> (forall r, a r *m VV = 0) ->
  (forall j, j != ord0 -> exists r, j \notin S r) ->
  [/\ forall r j, a r 0 j = (j == ord0)%:R, row ord0 VV = 0 & row_free (row' ord0 VV)]).
Proof.
move=> /(_ R 1%N 1%N 0 0 0 Unit (fun=> [set ord0]) (fun=> delta_mx 0 0)) [].
- by rewrite mulmx0.
- by rewrite card_unit.
- by move=> r j; rewrite inE mxE => /negbTE ->.
- by move=> r; rewrite big_ord_recl big_ord1 !mxE addr0.
- by move=> r; rewrite mulmx0.
- by move=> j j0; exists tt; rewrite inE.
- move=> _ _; have -> : row' ord0 (0 : 'M[R]_(2, 1)) = 0 by apply/matrixP => i j; rewrite !mxE.
  by rewrite /row_free mxrank0.
Qed.

(* False: dependent content values. *)
Lemma S1_dependent : ~ (
  forall (R : realFieldType) (V : lmodType R) (T D : finType) (v : T -> V) (s : T) (u : D -> V) (c : T -> D)
    (a : T -> R) (i : T), v s = 0 -> True -> (forall j, j != s -> v j = u (c j)) -> (forall j, 0 <= a j) -> i != s ->
  ((exists k, \sum_j a j *: v j = k *: v i) <-> forall j, j != s -> v j != v i -> a j = 0)).
Proof.
pose v (t : option bool) : 'rV[R]_1 := num (if t is Some b then if b then 1 else 2%:R else 0).
have vs : v None = 0 by apply/rowP => k; rewrite !mxE.
have e : exists k : R, \sum_j (1 : R) *: v j = k *: v (Some true).
  by exists 3%:R; rewrite sum_option sum_bool !numZ !numD; congr num; ring.
have ne : v (Some false) != v (Some true) by apply/eqP => /num_inj /eqP; rewrite two_one.
move=> h; have [line _] := h R _ OBool OBool v None v id (fun=> 1) (Some true) vs I (fun _ _ => erefl) (fun _ => ler01) isT.
by have /eqP := line e (Some false) isT ne; rewrite oner_eq0.
Qed.

(* False: the sink's embedding may change. *)
Lemma M1a_moving_sink : ~ (
  forall (F : fieldType) (d : nat) (T : finType) (A : T -> T -> F) (V : 'M[F]_d) (Norm : 'rV[F]_d -> 'rV[F]_d)
    (s i : T) (x x' : T -> 'rV[F]_d), (forall j, j != i -> j != s -> A i j = 0) -> x i = x' i ->
  Norm (x i + \sum_j A i j *: (x j *m V)) = Norm (x' i + \sum_j A i j *: (x' j *m V))).
Proof.
pose x (c : R) (t : bool) : 'rV[R]_1 := num (if t then c else 0).
have off (j : bool) : j != false -> j != true -> 1 = 0 :> R by case: j.
move=> h; have := h R 1%N Bool (fun _ _ => 1) 1%:M id true false (x 0) (x 1) off erefl.
rewrite !sum_bool !mulmx1 !numZ !numD => /num_inj /eqP.
by rewrite !mulr0 !mulr1 !addr0 !add0r eq_sym oner_eq0.
Qed.
