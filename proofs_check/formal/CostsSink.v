(* C1: the sink with margin m costs m / (delta_Q delta_K) in every norm of a dual pair at once. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From sinkproof Require Import Costs.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Definitions.
Variables (R : rcfType) (d : nat).

Definition convex_weights (I : finType) (a : I -> R) := (forall i, 0 <= a i) /\ \sum_i a i = 1.

(* q = sum a_i x_i lies in the hull and <q,x_i> >= |q|^2: then |q| = dist(0, conv x), see
   min_norm_point_nearest. *)
Definition min_norm_point (I : finType) (x : I -> 'cV[R]_d) (q : 'cV[R]_d) :=
  (exists a, convex_weights a /\ q = \sum_i a i *: x i) /\ forall i, dot q q <= dot q (x i).

(* Margin m of the sink s over the keys y_j for the queries x_i, with logits x_i^T W y. *)
Definition sink_margin (I J : finType) (x : I -> 'cV[R]_d) (y : J -> 'cV[R]_d) (s : 'cV[R]_d)
  (m : R) (W : 'M[R]_d) := forall i j, m <= dot (x i) (W *m (s - y j)).
End Definitions.

Section Sink.
Variables (R : rcfType) (d : nat) (I J : finType).
Implicit Types (x : I -> 'cV[R]_d) (y : J -> 'cV[R]_d) (s q k : 'cV[R]_d) (W : 'M[R]_d).

(* The min-norm point is the point of the hull nearest to 0. *)
Lemma min_norm_point_nearest (x : I -> 'cV[R]_d) q (a : I -> R) :
  min_norm_point x q -> convex_weights a -> norm q <= norm (\sum_i a i *: x i).
Proof.
move=> [_ qx] [a0 a1]; have [->|qN0] := eqVneq q 0; first by rewrite {1}/norm dot0l sqrtr0 norm_ge0.
have : dot q q <= dot q (\sum_i a i *: x i).
  rewrite dot_sumr -[X in X <= _]mul1r -a1 mulr_suml; apply: ler_sum => i _.
  by rewrite dotZr; apply: ler_wpmul2l.
by move=> /le_trans /(_ (le_trans (ler_norm _) (dot_le _ _))); rewrite -norm_sqr expr2 ler_pmul2l // norm_gt0.
Qed.

(* Averaging the constraints with the two points' weights. *)
Lemma sink_average x y s q k m W : min_norm_point x q -> min_norm_point (fun j => s - y j) k ->
  sink_margin x y s m W -> m <= dot q (W *m k).
Proof.
move=> [[a [[a0 a1] ->]] _] [[b [[b0 b1] ->]] _] mW.
rewrite dot_suml -[X in X <= _]mul1r -a1 mulr_suml; apply: ler_sum => i _.
rewrite dotZl; apply: ler_wpmul2l => //; rewrite mulmx_sumr dot_sumr.
rewrite -[X in X <= _]mul1r -b1 mulr_suml; apply: ler_sum => j _.
by rewrite -scalemxAr dotZr; apply: ler_wpmul2l.
Qed.

(* C1. With the min-norm points q of the queries and k of the differences x_s - x_j, both non-zero,
   W = m q k^T/(|q|^2 |k|^2) has margin m and norm at most m/(|q||k|), and no matrix with margin m
   has a smaller norm. *)
Theorem C1 (le dle : 'M[R]_d -> R -> Prop) x y s q k m : dual_pair le dle ->
  min_norm_point x q -> min_norm_point (fun j => s - y j) k -> q != 0 -> k != 0 -> 0 <= m ->
  let W0 := (m / (dot q q * dot k k)) *: (q *m k^T) in
  [/\ sink_margin x y s m W0, le W0 (m / (norm q * norm k))
    & forall W c, sink_margin x y s m W -> le W c -> m / (norm q * norm k) <= c].
Proof.
move=> pair minq mink q0 k0 m0 W0.
have [nq nk] : 0 < norm q /\ 0 < norm k by rewrite !norm_gt0.
have dq : 0 < dot q q by rewrite -norm_sqr exprn_gt0.
have dk : 0 < dot k k by rewrite -norm_sqr exprn_gt0.
split.
- move=> i j; have [[_ qx] [_ ky]] := (minq, mink).
  rewrite /W0 -scalemxAl dotZr -mulmxA [k^T *m _]mx11_scalar mul_mx_scalar dotZr -/(dot k _) [dot (x i) q]dotC.
  rewrite mulrAC ler_pdivl_mulr ?mulr_gt0 //; apply: ler_wpmul2l => //.
  by rewrite mulrC; apply: ler_pmul => //; rewrite ?dot_ge0.
- have -> : W0 = ((m / (dot q q * dot k k)) *: q) *m k^T by rewrite -scalemxAl.
  have -> : m / (norm q * norm k) = norm ((m / (dot q q * dot k k)) *: q) * norm k.
    rewrite normZ ger0_norm; last by rewrite divr_ge0 // mulr_ge0 ?dot_ge0.
    by rewrite -!norm_sqr; field; rewrite !gt_eqF.
  exact: le_rank1 pair _ _.
- move=> W c mW leW; rewrite ler_pdivr_mulr ?mulr_gt0 //.
  have := pairing pair leW (dle_rank1 pair q k); apply: le_trans.
  by apply: (le_trans _ (ler_norm _)); rewrite inner_rank1; apply: (sink_average minq mink).
Qed.

(* C1 for a norm N and its dual N*, as functions. *)
Theorem C1_norms (N Nd : 'M[R]_d -> R) x y s q k m :
  (forall W, 0 <= N W) -> (forall G, 0 <= Nd G) -> (forall G W, `|inner G W| <= N W * Nd G) ->
  (forall q k, N (q *m k^T) = norm q * norm k) -> (forall q k, Nd (q *m k^T) = norm q * norm k) ->
  min_norm_point x q -> min_norm_point (fun j => s - y j) k -> q != 0 -> k != 0 -> 0 <= m ->
  let W0 := (m / (dot q q * dot k k)) *: (q *m k^T) in
  [/\ sink_margin x y s m W0, N W0 = m / (norm q * norm k)
    & forall W, sink_margin x y s m W -> m / (norm q * norm k) <= N W].
Proof.
move=> N0 Nd0 h r dr minq mink q0 k0 m0 W0.
have [mW0 le0 low] := C1 (dual_pair_norms N0 Nd0 h r dr) minq mink q0 k0 m0.
split=> // [|W mW]; last exact: low mW _.
by apply/eqP; rewrite eq_le le0; apply: low mW0 _.
Qed.

(* Degenerate case: with 0 in conv Q, or x_s in conv K, no W has a positive margin. *)
Theorem C1_infeasible x y s q k m W : min_norm_point x q -> min_norm_point (fun j => s - y j) k ->
  q = 0 \/ k = 0 -> 0 < m -> ~ sink_margin x y s m W.
Proof.
move=> minq mink qk0 m0 /(sink_average minq mink).
by case: qk0 => ->; rewrite ?mulmx0 ?dot0l ?[dot q 0]dotC ?dot0l leNgt m0.
Qed.

(* Uniqueness in Frobenius norm. *)
Theorem C1_unique_frobenius x y s q k m W :
  min_norm_point x q -> min_norm_point (fun j => s - y j) k -> q != 0 -> k != 0 -> 0 <= m ->
  sink_margin x y s m W -> frobenius W <= m / (norm q * norm k) ->
  W = (m / (dot q q * dot k k)) *: (q *m k^T).
Proof.
move=> minq mink q0 k0 m0 mW leW; set t := m / _ ; set W0 := t *: _.
have [nq nk] : 0 < norm q /\ 0 < norm k by rewrite !norm_gt0.
have [dq dk] : 0 < dot q q /\ 0 < dot k k by rewrite -!norm_sqr !exprn_gt0.
have t0 : 0 <= t by rewrite divr_ge0 // mulr_ge0 ?dot_ge0.
have WW : inner W W <= t ^+ 2 * (dot q q * dot k k).
  rewrite -frobenius_sqr (_ : _ * _ = (m / (norm q * norm k)) ^+ 2).
    by rewrite ler_pexpn2r ?nnegrE ?sqrtr_ge0 // divr_ge0 // mulr_ge0 ?norm_ge0.
  by rewrite /t -!norm_sqr; field; rewrite !gt_eqF.
have WW0 : t * m <= inner W0 W.
  by rewrite innerZl inner_rank1; apply: ler_wpmul2l => //; apply: (sink_average minq mink).
have W0W0 : inner W0 W0 = t * m.
  rewrite innerZl innerC innerZl inner_rank1 -mulmxA [k^T *m k]mx11_scalar mul_mx_scalar dotZr -/(dot k k) /t.
  by field; rewrite !gt_eqF.
have tm : t ^+ 2 * (dot q q * dot k k) = t * m by rewrite /t; field; rewrite !gt_eqF.
clearbody W0; have : inner (W - W0) (W - W0) <= 0.
  rewrite -[- W0]scaleN1r innerDl innerZl [inner W _]innerC [inner W0 (_ + _)]innerC !innerDl !innerZl.
  rewrite W0W0 [inner W W0]innerC; move: WW WW0; rewrite tm => WW WW0.
  rewrite (_ : _ + _ = inner W W - t * m + 2 * (t * m - inner W0 W)); last by ring.
  by rewrite -[0]addr0 ler_add ?subr_le0 // pmulr_rle0 ?ltr0n // subr_le0.
move=> le0; apply/eqP; rewrite -subr_eq0; apply/eqP/matrixP => i j.
have : inner (W - W0) (W - W0) == 0 by rewrite eq_le le0 inner_ge0.
rewrite innerE psumr_eq0 => [/allP /(_ (i, j) (mem_index_enum _))/implyP/(_ isT)|p _].
  by rewrite mulf_eq0 orbb [in RHS]mxE => /eqP.
by rewrite -expr2 sqr_ge0.
Qed.

(* The hypotheses can be met: one query and one key, x = 1, x_s - y = 1 in R^1. *)
Lemma C1_satisfiable (i0 : I) (j0 : J) : exists (x : I -> 'cV[R]_1) (y : J -> 'cV[R]_1) (s q k : 'cV[R]_1),
  [/\ min_norm_point x q, min_norm_point (fun j => s - y j) k, q != 0 & k != 0].
Proof.
pose e : 'cV[R]_1 := const_mx 1.
have mnp (L : finType) (l0 : L) : min_norm_point (fun _ : L => e) e.
  split=> //; exists (fun l => (l == l0)%:R); split; last first.
    by rewrite (bigD1 l0) //= eqxx scale1r big1 ?addr0 // => l /negPf ->; rewrite scale0r.
  split=> [l|]; first exact: ler0n.
  by rewrite (bigD1 l0) //= eqxx big1 ?addr0 // => l /negPf ->.
have e0 : e != 0 by apply/eqP => /matrixP /(_ 0 0)/eqP; rewrite !mxE oner_eq0.
exists (fun=> e), (fun=> 0), e, e, e; split=> //; first exact: mnp i0.
by rewrite subr0; apply: mnp j0.
Qed.
End Sink.
