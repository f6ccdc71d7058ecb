(* Family G on the sphere: tokens that come out of a normalisation with gain and bias.                              *)
(*                                                                                                                  *)
(* The normalised tokens are n : T -> 'rV_d; the tokens that enter attention are x_j = G n_j + b, written for rows  *)
(* as n j *m G^T + b.                                                                                               *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From sinkproof Require Import Hulls Geometry.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* On a sphere, <p, p - q> is half the squared distance. *)
Lemma dot_sphere (R : realFieldType) (d : nat) (p q : 'rV[R]_d) :
  dot q q = dot p p -> dot p (p - q) = dot (p - q) (p - q) / 2%:R.
Proof.
move=> e; rewrite !dotBr !dotBl e (dotC q p).
by field.
Qed.

(* G3, the keys.  n_j and n_s have equal norms and n_j <> n_s for every key j, G is invertible: then x_s is not in  *)
(* the convex hull of the keys.  (The common norm is positive by itself: two different points have it.)             *)
Theorem G3_hull (R : realFieldType) (d : nat) (T : finType) (n : T -> 'rV[R]_d) (G : 'M[R]_d) (b : 'rV[R]_d)
    (s : T) (K : {set T}) :
  let x j := n j *m G^T + b in
  G \in unitmx -> (forall j, j \in K -> dot (n j) (n j) = dot (n s) (n s) /\ n j != n s) ->
  ~ hull K x (x s).
Proof.
move=> x Gu sphere /hull_shift h.
suff: 0 < dot 0 (n s *m invmx G) by rewrite dot0l ltxx.
apply: positive_off_hull h => j /sphere[e ne].
rewrite dotC dot_mulmx; have -> : (x s - x j) *m (invmx G)^T = n s - n j.
  by rewrite /x opprD addrACA subrr addr0 -mulmxBl -mulmxA -trmx_mul mulVmx // trmx1 mulmx1.
by rewrite dot_sphere // divr_gt0 ?ltr0Sn // dot_gt0 subr_eq0 eq_sym.
Qed.

(* G3.  Under the same hypotheses, with Q and K not empty: the sink is representable iff the queries lie in an open *)
(* half-space through the origin, iff -b is not in conv{G n_i : i in Q}.                                            *)
Theorem G3 (R : realFieldType) (d : nat) (T : finType) (n : T -> 'rV[R]_d) (G : 'M[R]_d) (b : 'rV[R]_d)
    (s : T) (Q K : {set T}) :
  let x j := n j *m G^T + b in
  let represented := exists W : 'M[R]_d, forall i j, i \in Q -> j \in K -> 1 <= form W (x i) (x s - x j) in
  Q != set0 -> K != set0 -> G \in unitmx ->
  (forall j, j \in K -> dot (n j) (n j) = dot (n s) (n s) /\ n j != n s) ->
  (represented <-> exists u, forall i, i \in Q -> 0 < dot (x i) u) /\
  (represented <-> ~ hull Q (fun i => n i *m G^T) (- b)).
Proof.
move=> x represented Q0 K0 Gu sphere; have outK := @G3_hull R d T n G b s K Gu sphere.
have main : represented <-> ~ hull Q x 0.
  by split=> [/G1_necessary [] //|outQ]; apply/G1.
split; first by split=> [/main/half_space //|/half_space/main].
suff e : hull Q x 0 <-> hull Q (fun i => n i *m G^T) (- b).
  by split=> [/main out /e //|out]; apply/main => /e.
have sum (a : T -> R) : \sum_(i in Q) a i = 1 ->
    \sum_(i in Q) a i *: x i = \sum_(i in Q) a i *: (n i *m G^T) + b.
  move=> a1; rewrite -[b in RHS]scale1r -a1 scaler_suml -big_split.
  by apply: eq_bigr => i _; rewrite scalerDr.
split=> -[a [a0 a1 h]]; exists a; split=> //.
  by apply/eqP; rewrite -addr_eq0 -sum // h.
by rewrite sum // h addNr.
Qed.

Lemma G3_satisfiable (R : realFieldType) :
  exists (n : bool -> 'rV[R]_1) (G : 'M[R]_1),
    G \in unitmx /\ forall j, j \in [set false] -> dot (n j) (n j) = dot (n true) (n true) /\ n j != n true.
Proof.
exists (fun t => const_mx ((-1) ^+ t)), 1%:M; split=> [|j]; first exact: unitmx1.
rewrite inE => /eqP ->; split; first by rewrite /dot !big_ord1 !mxE expr0 expr1 mulrNN.
apply/eqP => /rowP /(_ 0) /eqP; rewrite !mxE expr0 expr1 -subr_eq0 opprK.
by rewrite -[1 + 1]/(2%:R) pnatr_eq0.
Qed.

(* G3, distance (G = I, any bias b).  Normalised tokens on the sphere of radius r > 0.  If mu >= 0 is at most every *)
(* |x_s - x_j|^2, then the distance of x_s from conv K is at least mu/(2r); squared, so that no root is needed.     *)
Theorem G3_distance (R : realFieldType) (d : nat) (T : finType) (n : T -> 'rV[R]_d) (b : 'rV[R]_d)
    (s : T) (K : {set T}) (r mu : R) (z : 'rV[R]_d) :
  let x j := n j + b in
  0 < r -> dot (n s) (n s) = r ^+ 2 -> (forall j, j \in K -> dot (n j) (n j) = r ^+ 2) ->
  0 <= mu -> (forall j, j \in K -> mu <= dot (x s - x j) (x s - x j)) -> hull K x z ->
  (mu / (2%:R * r)) ^+ 2 <= dot (x s - z) (x s - z).
Proof.
move=> x r0 ss sK mu0 hmu [a [a0 a1 <-]].
have low : mu / 2%:R <= dot (n s) (x s - \sum_(i in K) a i *: x i).
  have -> : x s - \sum_(i in K) a i *: x i = \sum_(i in K) a i *: (n s - n i).
    rewrite -[x s]scale1r -a1 scaler_suml -sumrB; apply: eq_bigr => i _.
    by rewrite -scalerBr /x opprD addrACA subrr addr0.
  rewrite dot_sumr -[mu / _]mul1r -{1}a1 mulr_suml; apply: ler_sum => j jK.
  rewrite dotZr ler_wpmul2l ?a0 // dot_sphere ?ss ?sK // ler_wpmul2r ?invr_ge0 ?ler0n //.
  by have := hmu j jK; rewrite /x opprD addrACA subrr addr0.
have := cauchy_schwarz (n s) (x s - \sum_(i in K) a i *: x i); rewrite ss => cs.
have r2 : 0 < r ^+ 2 by rewrite exprn_gt0.
rewrite -(ler_pmul2l r2); apply: le_trans cs.
have -> : r ^+ 2 * (mu / (2%:R * r)) ^+ 2 = (mu / 2%:R) ^+ 2 by field; rewrite gt_eqF.
by rewrite ler_expn2r ?nnegrE ?(le_trans _ low) ?divr_ge0 ?ler0n.
Qed.

Lemma G3_distance_satisfiable (R : realFieldType) :
  exists (n : bool -> 'rV[R]_1) (z : 'rV[R]_1) (r mu : R),
    [/\ 0 < r, dot (n true) (n true) = r ^+ 2, dot (n false) (n false) = r ^+ 2, 0 < mu
      & mu <= dot (n true - n false) (n true - n false) /\ hull [set false] n z].
Proof.
exists (fun t => const_mx (if t then 1 else -1)), (const_mx (-1)), 1, 4%:R.
split; rewrite ?ltr01 ?ltr0n //; try by rewrite /dot big_ord1 !mxE; ring.
split; first by rewrite [dot _ _]big_ord1 !mxE le_eqVlt; apply/orP; left; apply/eqP; ring.
by exists (fun=> 1); rewrite !big_set1 scale1r; split=> // j _; rewrite ler01.
Qed.

(* G4.  As G3 with b = 0 (keys on the sink's sphere, G invertible).  If all <x_s, x_i>, i in Q, have one strict     *)
(* sign sg, the rank-one W = sg x_s (G^-T n_s)^T gives query i over key j the margin |<x_s, x_i>| |n_s - n_j|^2 / 2 *)
(* exactly, which is positive when n_j <> n_s.  The sink may or may not be a query.                                 *)
Theorem G4 (R : realFieldType) (d : nat) (T : finType) (n : T -> 'rV[R]_d) (G : 'M[R]_d) (s : T) (Q K : {set T})
    (sg : R) (i j : T) :
  let x t := n t *m G^T in
  let W := sg *: ((x s)^T *m (n s *m invmx G)) in
  G \in unitmx -> sg = 1 \/ sg = -1 ->
  (forall k, k \in Q -> 0 < sg * dot (x s) (x k)) ->
  (forall k, k \in K -> dot (n k) (n k) = dot (n s) (n s)) ->
  i \in Q -> j \in K -> n j != n s ->
  form W (x i) (x s - x j) = `|dot (x s) (x i)| * (dot (n s - n j) (n s - n j) / 2%:R) /\
  0 < form W (x i) (x s - x j).
Proof.
move=> x W Gu sg1 pos sphere iQ jK ne.
have -> : form W (x i) (x s - x j) = sg * dot (x s) (x i) * (dot (n s - n j) (n s - n j) / 2%:R).
  rewrite formZ form_outer (dotC (x i)) mulrA -dot_sphere ?sphere // [dot (n s *m _) _]dot_mulmx; congr (_ * dot _ _).
  by rewrite /x -mulmxBl -mulmxA -trmx_mul mulVmx // trmx1 mulmx1.
have p := pos i iQ; split.
  congr (_ * _); case: sg1 p => ->; rewrite ?mul1r ?mulN1r; first by move/gtr0_norm.
  by rewrite oppr_gt0 => /ltr0_norm.
by rewrite mulr_gt0 ?divr_gt0 ?ltr0Sn // dot_gt0 subr_eq0 eq_sym.
Qed.

(* G4, the head's margin is exactly min_i |<x_s, x_i>| * min_j |n_s - n_j|^2 / 2: attained at the two minimisers.   *)
Theorem G4_minimum (R : realFieldType) (d : nat) (T : finType) (n : T -> 'rV[R]_d) (G : 'M[R]_d) (s : T)
    (Q K : {set T}) (sg : R) (i0 j0 i j : T) :
  let x t := n t *m G^T in
  let W := sg *: ((x s)^T *m (n s *m invmx G)) in
  G \in unitmx -> sg = 1 \/ sg = -1 ->
  (forall k, k \in Q -> 0 < sg * dot (x s) (x k)) ->
  (forall k, k \in K -> dot (n k) (n k) = dot (n s) (n s) /\ n k != n s) ->
  i0 \in Q -> (forall k, k \in Q -> `|dot (x s) (x i0)| <= `|dot (x s) (x k)|) ->
  j0 \in K -> (forall k, k \in K -> dot (n s - n j0) (n s - n j0) <= dot (n s - n k) (n s - n k)) ->
  i \in Q -> j \in K ->
  `|dot (x s) (x i0)| * (dot (n s - n j0) (n s - n j0) / 2%:R) = form W (x i0) (x s - x j0) /\
  form W (x i0) (x s - x j0) <= form W (x i) (x s - x j).
Proof.
move=> x W Gu sg1 pos sphere i0Q mini j0K minj iQ jK.
have norms k : k \in K -> dot (n k) (n k) = dot (n s) (n s) by move=> /sphere[].
have [_ ne0] := sphere j0 j0K; have [_ ne] := sphere j jK.
have [e0 _] := G4 Gu sg1 pos norms i0Q j0K ne0.
have [e _] := G4 Gu sg1 pos norms iQ jK ne.
split; first by rewrite -e0.
by rewrite e0 e ler_pmul ?normr_ge0 ?divr_ge0 ?dot_ge0 ?ler0n ?mini // ler_pmul2r ?invr_gt0 ?ltr0Sn ?minj.
Qed.

(* G4, the sign: if the sink is a query, the common sign is +. *)
Theorem G4_sign (R : realFieldType) (d : nat) (T : finType) (x : T -> 'rV[R]_d) (s : T) (Q : {set T}) (sg : R) :
  sg = 1 \/ sg = -1 -> (forall k, k \in Q -> 0 < sg * dot (x s) (x k)) -> s \in Q -> sg = 1.
Proof.
move=> [//|->] pos /pos; rewrite mulN1r oppr_gt0 => h.
by have := dot_ge0 (x s); rewrite leNgt h.
Qed.

Lemma G4_satisfiable (R : realFieldType) :
  exists (n : bool -> 'rV[R]_1) (G : 'M[R]_1),
    [/\ G \in unitmx, forall k, k \in [set true] -> 0 < 1 * dot (n true *m G^T) (n k *m G^T)
      & forall k, k \in [set false] -> dot (n k) (n k) = dot (n true) (n true) /\ n k != n true].
Proof.
exists (fun t => const_mx ((-1) ^+ ~~ t)), 1%:M; split=> [|j|j]; first exact: unitmx1.
  rewrite inE => /eqP ->; rewrite mul1r trmx1 mulmx1 dot_gt0.
  by apply/eqP => /rowP /(_ 0) /eqP; rewrite !mxE expr0 oner_eq0.
rewrite inE => /eqP ->; split; first by rewrite /dot !big_ord1 !mxE expr0 expr1 mulrNN mulr1.
apply/eqP => /rowP /(_ 0) /eqP; rewrite !mxE expr0 expr1 eq_sym -subr_eq0 opprK.
by rewrite -[1 + 1]/(2%:R) pnatr_eq0.
Qed.
