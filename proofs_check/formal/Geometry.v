(* Family G: when an attention head can represent a sink.                                                           *)
(*                                                                                                                  *)
(* The tokens are a finite family x : T -> 'rV_d, s is the sink's index, Q and K are sets of indices of queries and *)
(* of competing keys.  The sink may or may not be one of the queries; nothing here depends on it.  The logit of     *)
(* query i and key j is form W (x i) (x j), so form W (x i) (x s - x j) is the margin of the sink over key j.       *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From sinkproof Require Import Hulls.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* A vector is in the hull of a family iff 0 is in the hull of the differences. *)
Lemma hull_shift (R : realFieldType) (V : lmodType R) (I : finType) (A : {set I}) (v : I -> V) (z : V) :
  hull A v z <-> hull A (fun i => z - v i) 0.
Proof.
have e (a : I -> R) : \sum_(i in A) a i = 1 -> \sum_(i in A) a i *: (z - v i) = z - \sum_(i in A) a i *: v i.
  move=> a1; rewrite -[z in z - _]scale1r -a1 scaler_suml -sumrB.
  by apply: eq_bigr => i _; rewrite scalerBr.
split=> -[a [a0 a1 h]]; exists a; split=> //; first by rewrite e // h subrr.
by move/eqP: h; rewrite e // subr_eq0 => /eqP.
Qed.

(* The logit is the inner product of W with the outer product of query and key. *)
Lemma form_mxvec (F : fieldType) (d : nat) (W : 'M[F]_d) (x y : 'rV[F]_d) :
  form W x y = dot (mxvec (x^T *m y)) (mxvec W).
Proof.
rewrite /form /dot (reindex _ (curry_mxvec_bij _ _)) /=.
transitivity (\sum_l \sum_k x 0 k * W k l * y 0 l).
  by apply: eq_bigr => l _; rewrite mxE mulr_suml.
rewrite exchange_big pair_big; apply: eq_bigr => -[k l] _ /=.
by rewrite !mxvecE !mxE big_ord1 !mxE mulrAC.
Qed.

Lemma hull_mxvec (R : realFieldType) (m n : nat) (I : finType) (A : {set I}) (v : I -> 'M[R]_(m, n)) :
  hull A (fun i => mxvec (v i)) 0 <-> hull A v 0.
Proof.
have e (a : I -> R) : \sum_(i in A) a i *: mxvec (v i) = mxvec (\sum_(i in A) a i *: v i).
  by rewrite linear_sum; apply: eq_bigr => i _; rewrite linearZ.
split=> -[a [a0 a1 h]]; exists a; split=> //; last by rewrite e h linear0.
by apply: (can_inj mxvecK); rewrite -e h linear0.
Qed.

(* G2.  Tokens x, sink s, any set P of pairs (query, key).  Some matrix W gives every pair of P margin at least 1   *)
(* iff 0 is not in the convex hull of the outer products of x_i with x_s - x_j, (i, j) in P.                        *)
Theorem G2 (R : realFieldType) (d : nat) (T : finType) (x : T -> 'rV[R]_d) (s : T) (P : {set T * T}) :
  (exists W : 'M[R]_d, forall p, p \in P -> 1 <= form W (x p.1) (x s - x p.2)) <->
  ~ hull P (fun p => (x p.1)^T *m (x s - x p.2)) 0.
Proof.
split=> [[W margin] /hull_mxvec h|out].
  apply: (@gordan_exclusive R _ _ P (fun p => mxvec ((x p.1)^T *m (x s - x p.2)))); split=> //.
  by exists (mxvec W) => p pP; rewrite -form_mxvec margin.
have [[w margin]|h] := gordan P (fun p => mxvec ((x p.1)^T *m (x s - x p.2))).
  by exists (vec_mx w) => p pP; rewrite form_mxvec vec_mxK margin.
by case: out; apply/hull_mxvec.
Qed.

(* G2, the alternative itself: one of the two exists (constructively), and never both. *)
Theorem G2_alternative (R : realFieldType) (d : nat) (T : finType) (x : T -> 'rV[R]_d) (s : T) (P : {set T * T}) :
  let represented := exists W : 'M[R]_d, forall p, p \in P -> 1 <= form W (x p.1) (x s - x p.2) in
  let obstructed := hull P (fun p => (x p.1)^T *m (x s - x p.2)) 0 in
  (represented \/ obstructed) /\ ~ (represented /\ obstructed).
Proof.
move=> represented obstructed; split; last by case=> /G2.
have [[w margin]|h] := gordan P (fun p => mxvec ((x p.1)^T *m (x s - x p.2))).
  by left; exists (vec_mx w) => p pP; rewrite form_mxvec vec_mxK margin.
by right; apply/hull_mxvec.
Qed.

(* G1, sufficiency.  If 0 is not in the hull of the queries and x_s not in the hull of the keys, a matrix of rank   *)
(* at most one (head dimension 1) gives the sink margin at least 1 over every key in every query's row.             *)
Theorem G1_sufficient (R : realFieldType) (d : nat) (T : finType) (x : T -> 'rV[R]_d) (s : T) (Q K : {set T}) :
  ~ hull Q x 0 -> ~ hull K x (x s) ->
  exists W : 'M[R]_d, (\rank W <= 1)%N /\ forall i j, i \in Q -> j \in K -> 1 <= form W (x i) (x s - x j).
Proof.
move=> outQ outK.
have [[u hu]|/outQ[]] := gordan Q x.
have [[w hw]|/(hull_shift K x (x s)).2/outK[]] := gordan K (fun j => x s - x j).
exists (u^T *m w); split=> [|i j iQ jK].
  exact: mulmx_max_rank.
by rewrite form_outer (dotC w) mulr_ege1 ?hu ?hw.
Qed.

(* G1, necessity.  Q and K are not empty.  If some W gives every margin at least 1, both hull conditions hold. *)
Theorem G1_necessary (R : realFieldType) (d : nat) (T : finType) (x : T -> 'rV[R]_d) (s : T) (Q K : {set T}) :
  Q != set0 -> K != set0 ->
  (exists W : 'M[R]_d, forall i j, i \in Q -> j \in K -> 1 <= form W (x i) (x s - x j)) ->
  ~ hull Q x 0 /\ ~ hull K x (x s).
Proof.
move=> /set0Pn[i0 iQ] /set0Pn[j0 jK] [W margin]; split=> [h|/hull_shift h].
  suff: 0 < dot 0 ((x s - x j0) *m W^T) by rewrite dot0l ltxx.
  by apply: positive_off_hull h => i i_Q; rewrite -dot_mulmx (lt_le_trans ltr01) ?margin.
suff: 0 < dot 0 (x i0 *m W) by rewrite dot0l ltxx.
by apply: positive_off_hull h => j j_K; rewrite dotC (lt_le_trans ltr01) ?margin.
Qed.

(* G1.  Tokens x, sink s (in Q or not), non-empty finite sets Q of queries and K of keys.  Some W has               *)
(* x_i W (x_s - x_j) >= 1 for all i in Q and j in K  iff  0 is not in conv{x_i : i in Q} and x_s is not in          *)
(* conv{x_j : j in K}.                                                                                              *)
Theorem G1 (R : realFieldType) (d : nat) (T : finType) (x : T -> 'rV[R]_d) (s : T) (Q K : {set T}) :
  Q != set0 -> K != set0 ->
  (exists W : 'M[R]_d, forall i j, i \in Q -> j \in K -> 1 <= form W (x i) (x s - x j)) <->
  ~ hull Q x 0 /\ ~ hull K x (x s).
Proof.
move=> Q0 K0; split; first exact: G1_necessary.
by case=> outQ outK; have [W [_ margin]] := G1_sufficient outQ outK; exists W.
Qed.

(* G1, rank one suffices: if any W represents the sink, one of rank at most one does. *)
Theorem G1_rank_one (R : realFieldType) (d : nat) (T : finType) (x : T -> 'rV[R]_d) (s : T) (Q K : {set T}) :
  Q != set0 -> K != set0 ->
  (exists W : 'M[R]_d, forall i j, i \in Q -> j \in K -> 1 <= form W (x i) (x s - x j)) ->
  exists W : 'M[R]_d, (\rank W <= 1)%N /\ forall i j, i \in Q -> j \in K -> 1 <= form W (x i) (x s - x j).
Proof. by move=> Q0 K0 /(G1_necessary Q0 K0)[outQ outK]; apply: G1_sufficient. Qed.

(* G1 with a query bias b: x_i W + b is the query.  Representable iff x_s is not in the hull of the keys. *)
Theorem G1_bias (R : realFieldType) (d : nat) (T : finType) (x : T -> 'rV[R]_d) (s : T) (Q K : {set T}) :
  Q != set0 ->
  (exists (W : 'M[R]_d) (b : 'rV[R]_d),
     forall i j, i \in Q -> j \in K -> 1 <= form W (x i) (x s - x j) + dot b (x s - x j)) <->
  ~ hull K x (x s).
Proof.
move=> /set0Pn[i0 iQ]; split=> [[W [b margin]] /hull_shift h|out].
  suff: 0 < dot 0 (x i0 *m W + b) by rewrite dot0l ltxx.
  apply: positive_off_hull h => j j_K.
  by rewrite dotC dotDl (lt_le_trans ltr01) ?margin.
have [[w hw]|/(hull_shift K x (x s)).2/out[]] := gordan K (fun j => x s - x j).
by exists 0, w => i j _ jK; rewrite /form mulmx0 dot0l add0r dotC hw.
Qed.

(* The hypotheses of G1 can be met, in dimension one: x_s = 2, one query and key 1. *)
Lemma G1_satisfiable (R : realFieldType) :
  exists (x : bool -> 'rV[R]_1) (Q K : {set bool}),
    [/\ Q != set0, K != set0, ~ hull Q x 0 & ~ hull K x (x true)].
Proof.
pose x b : 'rV[R]_1 := const_mx (if b then 2 else 1).
exists x, [set false], [set false]; split; try by apply/set0Pn; exists false; rewrite inE.
all: by case=> a [_]; rewrite !big_set1 => -> /rowP /(_ 0) /eqP; rewrite !mxE mul1r ?oner_eq0 // eq_sym
  -subr_eq0 -[2]/(1 + 1) addrK oner_eq0.
Qed.

(* The same instance meets the hypotheses of the statements that start from a matrix. *)
Lemma G1_represented (R : realFieldType) :
  exists (x : bool -> 'rV[R]_1) (Q K : {set bool}), [/\ Q != set0, K != set0 &
    exists W : 'M[R]_1, forall i j, i \in Q -> j \in K -> 1 <= form W (x i) (x true - x j)].
Proof.
have [x [Q [K [Q0 K0 outQ outK]]]] := G1_satisfiable R; exists x, Q, K; split=> //.
by have [W [_ margin]] := G1_sufficient outQ outK; exists W.
Qed.

(* G2 and the causal mask.  Tokens 0..n+1, the sink first, P = {(i, j) : j <= i, j not the sink} (own token         *)
(* included): representable iff the product form over all content tokens is, so a causal mask buys nothing.         *)
Theorem G2_causal (R : realFieldType) (d n : nat) (x : 'I_n.+2 -> 'rV[R]_d) :
  (exists W : 'M[R]_d, forall i j : 'I_n.+2, (0 < j <= i)%N -> 1 <= form W (x i) (x ord0 - x j)) <->
  (exists W : 'M[R]_d, forall i j : 'I_n.+2, (0 < i)%N -> (0 < j)%N -> 1 <= form W (x i) (x ord0 - x j)).
Proof.
split=> -[W margin]; last by exists W => i j /andP[j0 ji]; apply: margin => //; apply: leq_trans ji.
suff [outQ outK] : ~ hull [set i : 'I_n.+2 | (0 < i)%N] x 0 /\ ~ hull [set i : 'I_n.+2 | (0 < i)%N] x (x ord0).
  have [V [_ hV]] := G1_sufficient outQ outK.
  by exists V => i j i0 j0; apply: hV; rewrite inE.
(* The first content key is seen by every row, and the last row sees every key. *)
pose one : 'I_n.+2 := inord 1.
have one1 : one = 1%N :> nat by rewrite inordK.
split=> [h|/hull_shift h].
  suff: 0 < dot 0 ((x ord0 - x one) *m W^T) by rewrite dot0l ltxx.
  apply: positive_off_hull h => i; rewrite inE => i0.
  by rewrite -dot_mulmx (lt_le_trans ltr01) // margin // one1.
suff: 0 < dot 0 (x ord_max *m W) by rewrite dot0l ltxx.
apply: positive_off_hull h => j; rewrite inE => j0.
by rewrite dotC (lt_le_trans ltr01) // margin // j0 -ltnS ltn_ord.
Qed.

(* The plane, for the example that follows. *)
Definition vec2 (F : fieldType) (a b : F) : 'rV[F]_2 := \row_k if k == 0 then a else b.

Lemma form2 (F : fieldType) (W : 'M[F]_2) (a b c e : F) :
  form W (vec2 a b) (vec2 c e) = a * W 0 0 * c + b * W 1 0 * c + a * W 0 1 * e + b * W 1 1 * e.
Proof.
rewrite /form /dot !big_ord_recl big_ord0 !mxE !big_ord_recl !big_ord0 !mxE /=.
have -> : lift ord0 ord0 = 1 :> 'I_2 by apply: val_inj.
have -> : ord0 = 0 :> 'I_2 by [].
by ring.
Qed.

Lemma det2 (F : fieldType) (W : 'M[F]_2) : \det W = W 0 0 * W 1 1 - W 0 1 * W 1 0.
Proof.
rewrite (expand_det_row _ 0) !big_ord_recl big_ord0 /cofactor !det_mx11 !mxE /=.
have -> : lift ord0 ord0 = 1 :> 'I_2 by apply: val_inj.
have -> : lift 1 0 = 0 :> 'I_2 by apply: val_inj.
have -> : ord0 = 0 :> 'I_2 by [].
by rewrite /bump /= !addn0 !add0n expr0 expr1; ring.
Qed.

(* G2, rank one can fail for a general set of pairs.  x_s = (1,0), x_1 = (-2,0), x_2 = (1,-2), x_3 = (0,2) and the  *)
(* pairs (1,1), (2,1), (2,3), (3,3): some W represents them, none of rank at most one does.                         *)
Theorem G2_rank_one_fails (R : realFieldType) :
  let xs := vec2 1 0 in let x1 := vec2 (- 2%:R) 0 in let x2 := vec2 1 (- 2%:R) in let x3 := vec2 0 2%:R in
  let represents (W : 'M[R]_2) := [/\ 1 <= form W x1 (xs - x1), 1 <= form W x2 (xs - x1),
    1 <= form W x2 (xs - x3) & 1 <= form W x3 (xs - x3)] in
  (exists W, represents W) /\ forall W, represents W -> ~ (\rank W <= 1)%N.
Proof.
move=> xs x1 x2 x3 represents.
have sub (a b c e : R) : vec2 a b - vec2 c e = vec2 (a - c) (b - e).
  by apply/rowP => k; rewrite !mxE; case: ifP.
rewrite /represents /xs /x1 /x2 /x3; split.
  exists (\matrix_(i, j) if (i == 1) then -1 else if (j == 1) then - 2%:R else -1).
  rewrite !sub !form2 !mxE /=; split.
  - by rewrite (_ : _ + _ = 6%:R) ?ler1n //; ring.
  - by rewrite (_ : _ + _ = 3%:R) ?ler1n //; ring.
  - by rewrite (_ : _ + _ = 1%:R) ?ler1n //; ring.
  - by rewrite (_ : _ + _ = 2%:R) ?ler1n //; ring.
move=> W; rewrite !sub !form2.
set a := W 0 0; set b := W 0 1; set c := W 1 0; set e := W 1 1 => -[h1 h2 h3 h4] rank1.
have det : a * e = b * c.
  have : ~~ (W \in unitmx) by apply/negP => /mxrank_unit r2; rewrite r2 in rank1.
  by rewrite unitmxE unitfE negbK det2 subr_eq0 => /eqP.
have g1 : 1 <= - 6%:R * a by apply: le_trans h1 _; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
have g2 : 1 <= 3%:R * (a - 2%:R * c) by apply: le_trans h2 _; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
have g3 : 1 <= a - 2%:R * b - 2%:R * c + 4%:R * e.
  by apply: le_trans h3 _; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
have g4 : 1 <= 2%:R * (c - 2%:R * e) by apply: le_trans h4 _; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
have p1 : 0 < a - 2%:R * c by have := lt_le_trans ltr01 g2; rewrite pmulr_rgt0 ?ltr0n.
have p2 : 0 < c - 2%:R * e by have := lt_le_trans ltr01 g4; rewrite pmulr_rgt0 ?ltr0n.
have a0 : a < 0 by have := lt_le_trans ltr01 g1; rewrite mulNr oppr_gt0 pmulr_rlt0 ?ltr0n.
have c0 : c < 0.
  have : 2%:R * c < 0 by apply: lt_trans a0; rewrite -subr_gt0.
  by rewrite pmulr_rlt0 ?ltr0n.
have : 0 < c * (a - 2%:R * b - 2%:R * c + 4%:R * e).
  have -> : c * (a - 2%:R * b - 2%:R * c + 4%:R * e) = (a - 2%:R * c) * (c - 2%:R * e) + 2%:R * (a * e - b * c) by ring.
  by rewrite det subrr mulr0 addr0 mulr_gt0.
by rewrite nmulr_rgt0 // ltNge (le_trans ler01 g3).
Qed.

(* G1, rank one from separators: u and w with <x_i, u> >= 1 on Q and <w, x_s - x_j> >= 1 on K give W = u^T w of     *)
(* rank at most one (head dimension 1) with every margin at least 1.                                                *)
Theorem G1_separators (R : realFieldType) (d : nat) (T : finType) (x : T -> 'rV[R]_d) (s : T) (Q K : {set T})
    (u w : 'rV[R]_d) :
  (forall i, i \in Q -> 1 <= dot (x i) u) -> (forall j, j \in K -> 1 <= dot w (x s - x j)) ->
  (\rank (u^T *m w) <= 1)%N /\ forall i j, i \in Q -> j \in K -> 1 <= form (u^T *m w) (x i) (x s - x j).
Proof.
move=> hu hw; split=> [|i j iQ jK]; first exact: mulmx_max_rank.
by rewrite form_outer mulr_ege1 ?hu ?hw.
Qed.

(* Its hypotheses can be met, in dimension one: x_s = 2, one query and key 1, u = w = 1. *)
Lemma G1_separators_satisfiable (R : realFieldType) :
  exists (x : bool -> 'rV[R]_1) (Q K : {set bool}) (u w : 'rV[R]_1),
    [/\ Q != set0, K != set0, forall i, i \in Q -> 1 <= dot (x i) u & forall j, j \in K -> 1 <= dot w (x true - x j)].
Proof.
exists (fun b => const_mx (if b then 2%:R else 1)), [set false], [set false], (const_mx 1), (const_mx 1).
split; try by apply/set0Pn; exists false; rewrite inE.
all: move=> i; rewrite inE => /eqP ->; rewrite /dot big_ord1 !mxE.
- by rewrite mulr1 lexx.
- by rewrite mul1r -[2%:R]/(1 + 1) addrK lexx.
Qed.
