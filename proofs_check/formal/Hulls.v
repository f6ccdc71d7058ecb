(* Vectors, convex hulls and Gordan's alternative over an arbitrary ordered field.                                  *)
(*                                                                                                                  *)
(* Vectors are rows.  dot x y is the inner product, form W x y is the bilinear form x W y^T (the logit of query x   *)
(* and key y).  A family of vectors is a function on a finite index type, A a subset of the indices, and hull A v z *)
(* says that z is a convex combination of the v i, i in A.                                                          *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Definition dot (F : fieldType) (d : nat) (x y : 'rV[F]_d) : F := \sum_k x 0 k * y 0 k.

Definition form (F : fieldType) (d : nat) (W : 'M[F]_d) (x y : 'rV[F]_d) : F := dot (x *m W) y.

Definition hull (R : realFieldType) (V : lmodType R) (I : finType) (A : {set I}) (v : I -> V) (z : V) : Prop :=
  exists a : I -> R, [/\ forall i, i \in A -> 0 <= a i, \sum_(i in A) a i = 1 & \sum_(i in A) a i *: v i = z].

Section Dot.
Variables (F : fieldType) (d : nat).
Implicit Types (x y z : 'rV[F]_d) (W : 'M[F]_d).

Lemma dotC x y : dot x y = dot y x.
Proof. by apply: eq_bigr => k _; rewrite mulrC. Qed.

Lemma dotDl x y z : dot (x + y) z = dot x z + dot y z.
Proof. by rewrite -big_split; apply: eq_bigr => k _; rewrite mxE mulrDl. Qed.

Lemma dotZl c x z : dot (c *: x) z = c * dot x z.
Proof. by rewrite mulr_sumr; apply: eq_bigr => k _; rewrite mxE mulrA. Qed.

Lemma dotDr x y z : dot z (x + y) = dot z x + dot z y.
Proof. by rewrite dotC dotDl !(dotC z). Qed.

Lemma dotZr c x z : dot z (c *: x) = c * dot z x.
Proof. by rewrite dotC dotZl (dotC z). Qed.

Lemma dot0l x : dot 0 x = 0.
Proof. by rewrite -(scale0r (0 : 'rV[F]_d)) dotZl mul0r. Qed.

Lemma dot0r x : dot x 0 = 0.
Proof. by rewrite dotC dot0l. Qed.

Lemma dotNl x z : dot (- x) z = - dot x z.
Proof. by rewrite -scaleN1r dotZl mulN1r. Qed.

Lemma dotNr x z : dot z (- x) = - dot z x.
Proof. by rewrite dotC dotNl (dotC z). Qed.

Lemma dotBl x y z : dot (x - y) z = dot x z - dot y z.
Proof. by rewrite dotDl dotNl. Qed.

Lemma dotBr x y z : dot z (x - y) = dot z x - dot z y.
Proof. by rewrite dotDr dotNr. Qed.

Lemma dot_suml (I : finType) (P : pred I) (v : I -> 'rV[F]_d) z :
  dot (\sum_(i | P i) v i) z = \sum_(i | P i) dot (v i) z.
Proof. by elim/big_rec2: _ => [|i r s _ <-]; rewrite ?dot0l ?dotDl. Qed.

Lemma dot_sumr (I : finType) (P : pred I) (v : I -> 'rV[F]_d) z :
  dot z (\sum_(i | P i) v i) = \sum_(i | P i) dot z (v i).
Proof. by rewrite dotC dot_suml; apply: eq_bigr => i _; rewrite dotC. Qed.

Lemma dot_mulmx (e : nat) x (M : 'M[F]_(d, e)) (y : 'rV[F]_e) : dot (x *m M) y = dot x (y *m M^T).
Proof.
have dotE n (p q : 'rV[F]_n) : dot p q = (p *m q^T) 0 0.
  by rewrite mxE; apply: eq_bigr => k _; rewrite mxE.
by rewrite !dotE trmx_mul trmxK mulmxA.
Qed.

(* The logit of a rank-one head is a product of two inner products. *)
Lemma form_outer (u w x y : 'rV[F]_d) : form (u^T *m w) x y = dot x u * dot w y.
Proof.
rewrite /form mulmxA; have -> : x *m u^T = (dot x u)%:M.
  apply/matrixP => i j; rewrite !ord1 !mxE eqxx mulr1n; apply: eq_bigr => k _.
  by rewrite mxE.
by rewrite mul_scalar_mx dotZl.
Qed.

Lemma formZ c W x y : form (c *: W) x y = c * form W x y.
Proof. by rewrite /form -scalemxAr dotZl. Qed.

End Dot.

Section Ordered.
Variable R : realFieldType.

Lemma dot_ge0 d (x : 'rV[R]_d) : 0 <= dot x x.
Proof. by apply: sumr_ge0 => k _; rewrite -expr2 sqr_ge0. Qed.

Lemma dot_eq0 d (x : 'rV[R]_d) : (dot x x == 0) = (x == 0).
Proof.
apply/eqP/eqP => [h|->]; last by rewrite dot0l.
apply/rowP => k; rewrite mxE; apply/eqP.
move/eqP: h; rewrite psumr_eq0 => [/allP h|j _]; last by rewrite -expr2 sqr_ge0.
by have := h k (mem_index_enum k); rewrite mulf_eq0 orbb.
Qed.

Lemma dot_gt0 d (x : 'rV[R]_d) : (0 < dot x x) = (x != 0).
Proof. by rewrite lt_def dot_ge0 andbT dot_eq0. Qed.

(* Cauchy-Schwarz, squared: no square root is needed. *)
Lemma cauchy_schwarz d (x y : 'rV[R]_d) : dot x y ^+ 2 <= dot x x * dot y y.
Proof.
have [->|y0] := eqVneq y 0; first by rewrite !dot0r expr0n mulr0.
have p : 0 < dot y y by rewrite dot_gt0.
have := dot_ge0 (dot y y *: x - dot x y *: y).
rewrite dotBl !dotBr !dotZl !dotZr (dotC y x) => h.
rewrite -subr_ge0 -(pmulr_rge0 _ p); move: h; congr (0 <= _).
by ring.
Qed.

(* The separation direction that needs no induction: a positive functional keeps 0 out of the hull. *)
Lemma positive_off_hull d (I : finType) (A : {set I}) (v : I -> 'rV[R]_d) (u z : 'rV[R]_d) :
  (forall i, i \in A -> 0 < dot (v i) u) -> hull A v z -> 0 < dot z u.
Proof.
move=> pos [a [a0 a1 <-]]; rewrite dot_suml.
have ge i : i \in A -> 0 <= dot (a i *: v i) u.
  by move=> iA; rewrite dotZl mulr_ge0 ?a0 // ltW ?pos.
rewrite lt_def sumr_ge0 // andbT; apply/negP; rewrite psumr_eq0 // => /allP h.
have /eqP := oner_neq0 R; apply; rewrite -a1 big1 // => i iA.
have := h i (mem_index_enum i); rewrite iA /= dotZl mulf_eq0 => /orP[/eqP //|/eqP e].
by have := pos i iA; rewrite e ltxx.
Qed.

(* One step of the induction: w is positive on the list s and zero on x <> 0; then a large multiple of w plus x is  *)
(* positive on both.                                                                                                *)
Lemma tilt d (I : eqType) (s : seq I) (v : I -> 'rV[R]_d) (x w : 'rV[R]_d) :
  x != 0 -> dot x w = 0 -> (forall i, i \in s -> 0 < dot (v i) w) ->
  exists w', 0 < dot x w' /\ forall i, i \in s -> 0 < dot (v i) w'.
Proof.
move=> x0 xw pos; pose t := 1 + \sum_(i <- s) `|dot (v i) x| / dot (v i) w.
exists (t *: w + x); split; first by rewrite dotDr dotZr xw mulr0 add0r dot_gt0.
move=> i si; rewrite dotDr dotZr -ltr_subl_addr sub0r.
have h : `|dot (v i) x| / dot (v i) w < t.
  rewrite /t (big_rem i) //= addrCA ltr_addl ltr_spaddl // big_seq.
  by apply: sumr_ge0 => j /mem_rem sj; rewrite divr_ge0 ?normr_ge0 // ltW ?pos.
rewrite ltr_pdivr_mulr ?pos // in h.
by apply: le_lt_trans h; rewrite -normrN ler_norm.
Qed.

(* Gordan's alternative for a list of indices without repetition, by induction on the list. *)
Lemma gordan_seq d (I : eqType) (s : seq I) (v : I -> 'rV[R]_d) : uniq s ->
  (exists w, forall i, i \in s -> 0 < dot (v i) w) \/
  (exists a : I -> R, [/\ forall i, i \in s -> 0 <= a i, 0 < \sum_(i <- s) a i & \sum_(i <- s) a i *: v i = 0]).
Proof.
elim: s v => [|k s IH] v /=; first by left; exists 0.
case/andP => ks us.
(* Weights on k :: s from weights on s and a weight c of k. *)
have extend c (a : I -> R) : 0 <= c -> (forall i, i \in s -> 0 <= a i) -> 0 < c + \sum_(i <- s) a i ->
    c *: v k + \sum_(i <- s) a i *: v i = 0 ->
    exists b : I -> R, [/\ forall i, i \in k :: s -> 0 <= b i, 0 < \sum_(i <- k :: s) b i &
                           \sum_(i <- k :: s) b i *: v i = 0].
  move=> c0 a0 p e; exists (fun i => if i == k then c else a i); split.
  - by move=> i; rewrite inE; case: eqP => //= _; apply: a0.
  - rewrite big_cons eqxx; congr (0 < c + _): p; rewrite big_seq [RHS]big_seq.
    by apply: eq_bigr => i si; case: eqP si => // ->; rewrite (negbTE ks).
  - rewrite big_cons eqxx -[RHS]e; congr (_ + _); rewrite big_seq [RHS]big_seq.
    by apply: eq_bigr => i si; case: eqP si => // ->; rewrite (negbTE ks).
have [vk0|vk0] := eqVneq (v k) 0.
  right; apply: (extend 1 (fun=> 0)) => //; first by rewrite big1 // addr0 ltr01.
  by rewrite vk0 scaler0 add0r big1 // => i _; rewrite scale0r.
have [[w pos]|[a [a0 ap ae]]] := IH v us; last first.
  by right; apply: (extend 0 a) => //; rewrite ?add0r // scale0r add0r.
have [kw|kw|kw] := ltgtP (dot (v k) w) 0; last first.
- have [w' [kw' pos']] := tilt vk0 kw pos.
  by left; exists w' => i; rewrite inE => /predU1P[->|/pos'].
- by left; exists w => i; rewrite inE => /predU1P[->|/pos].
(* v k is negative on w: move every other vector along v k into the hyperplane orthogonal to w. *)
pose c i := - (dot (v i) w / dot (v k) w).
have c0 i : i \in s -> 0 < c i.
  by move=> si; rewrite /c -mulrN -invrN mulr_gt0 ?pos // invr_gt0 oppr_gt0.
have [[w' pos']|[a [a0 ap ae]]] := IH (fun i => v i + c i *: v k) us; last first.
  right; apply: (extend (\sum_(i <- s) a i * c i) a) => //.
  + by rewrite big_seq; apply: sumr_ge0 => i si; rewrite mulr_ge0 ?a0 // ltW ?c0.
  + apply: ltr_paddl ap; rewrite big_seq; apply: sumr_ge0 => i si; by rewrite mulr_ge0 ?a0 // ltW ?c0.
  + rewrite -[RHS]ae scaler_suml -big_split; apply: eq_bigr => i _.
    by rewrite scalerDr scalerA addrC.
(* w' positive on the moved vectors; correct it by w so that it vanishes on v k. *)
pose w2 := w' - (dot (v k) w' / dot (v k) w) *: w.
have kw2 : dot (v k) w2 = 0 by rewrite dotBr dotZr divfK ?subrr // lt_eqF.
have pos2 i : i \in s -> 0 < dot (v i) w2.
  move=> si; have := pos' i si; rewrite dotDl dotZl dotBr dotZr /c; congr (0 < _).
  by field; rewrite lt_eqF.
have [w3 [kw3 pos3]] := tilt vk0 kw2 pos2.
by left; exists w3 => i; rewrite inE => /predU1P[->|/pos3].
Qed.

End Ordered.

(* Gordan's alternative, without a matrix: a finite family of vectors either is strictly positive on some w, with   *)
(* margin 1, or has 0 in its convex hull.                                                                           *)
Theorem gordan (R : realFieldType) (d : nat) (I : finType) (A : {set I}) (v : I -> 'rV[R]_d) :
  (exists w, forall i, i \in A -> 1 <= dot (v i) w) \/ hull A v 0.
Proof.
have [[w pos]|[a [a0 ap ae]]] := @gordan_seq R d I (enum A) v (enum_uniq _).
  left; pose t := 1 + \sum_(i in A) (dot (v i) w)^-1; exists (t *: w) => i iA.
  have p : 0 < dot (v i) w by apply: pos; rewrite mem_enum.
  rewrite dotZr -ler_pdivr_mulr // mul1r /t (bigD1 i) //= addrCA ler_addl addr_ge0 ?ler01 //.
  by apply: sumr_ge0 => j /andP[jA _]; rewrite invr_ge0 ltW // pos ?mem_enum.
right; rewrite big_enum /= in ap; rewrite big_enum /= in ae.
exists (fun i => a i / \sum_(j in A) a j); split.
- by move=> i iA; rewrite divr_ge0 ?a0 ?mem_enum // ltW.
- by rewrite -mulr_suml divff // gt_eqF.
- transitivity ((\sum_(j in A) a j)^-1 *: \sum_(i in A) a i *: v i); last by rewrite ae scaler0.
  by rewrite scaler_sumr; apply: eq_bigr => i _; rewrite scalerA mulrC.
Qed.

Theorem gordan_exclusive (R : realFieldType) (d : nat) (I : finType) (A : {set I}) (v : I -> 'rV[R]_d) :
  ~ ((exists w, forall i, i \in A -> 1 <= dot (v i) w) /\ hull A v 0).
Proof.
move=> [[w pos] h]; suff: 0 < dot 0 w by rewrite dot0l ltxx.
by apply: positive_off_hull h => i /pos; apply: lt_le_trans ltr01.
Qed.

(* Separation: a family lies in an open half-space through the origin iff 0 is not in its convex hull. *)
Theorem half_space (R : realFieldType) (d : nat) (I : finType) (A : {set I}) (v : I -> 'rV[R]_d) :
  (exists u, forall i, i \in A -> 0 < dot (v i) u) <-> ~ hull A v 0.
Proof.
split=> [[u pos] h|out]; first by have := positive_off_hull pos h; rewrite dot0l ltxx.
have [[u margin]|/out[]] := gordan A v.
by exists u => i /margin; apply: lt_le_trans ltr01.
Qed.
