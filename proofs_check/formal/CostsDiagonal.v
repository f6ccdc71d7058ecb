(* C3: lower bounds for the diagonal pattern by weighted directed Laplacians; C6: the ratio to the sink. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From sinkproof Require Import Costs CostsSink.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Diagonal.
Variables (R : rcfType) (d T : nat).
Implicit Types (X : 'M[R]_(d, T)) (W : 'M[R]_d) (lam : 'M[R]_T).

(* Tokens are the columns of X; logits x_i^T W x_j; margin m of the own token over the others. *)
Definition logits X W : 'M[R]_T := X^T *m W *m X.
Definition diagonal_margin X (m : R) W := forall i j, i != j -> m <= logits X W i i - logits X W i j.
(* L_lambda = diag(lambda 1) - lambda, and H = I - 11^T/T. *)
Definition laplacian lam : 'M[R]_T := diag_mx (\row_i \sum_j lam i j) - lam.
Definition centring : 'M[R]_T := 1%:M - const_mx T%:R^-1.

Lemma inner_laplacian X W lam :
  inner (X *m laplacian lam *m X^T) W = \sum_i \sum_j lam i j * (logits X W i i - logits X W i j).
Proof.
have -> : inner (X *m laplacian lam *m X^T) W = inner (laplacian lam) (logits X W).
  by rewrite /inner /logits !trmx_mul trmxK -!mulmxA mxtrace_mulC -!mulmxA.
rewrite innerE -(pair_bigA _ (fun i j => laplacian lam i j * logits X W i j)) /=.
have lapE i j : laplacian lam i j = (\sum_k lam i k) * (i == j)%:R - lam i j.
  by rewrite !mxE mulr_natr.
apply: eq_bigr => i _; under eq_bigr => j _ do rewrite lapE mulrBl.
under [RHS]eq_bigr do rewrite mulrBr.
rewrite !sumrB -mulr_suml; congr (_ - _).
rewrite [LHS](bigD1 i) //= eqxx mulr1 [X in _ + X]big1 ?addr0 // => j /negPf ji.
by rewrite eq_sym ji mulr0 mul0r.
Qed.

(* C3, weak duality for every norm: for lambda >= 0 with zero diagonal, a W of margin m and norm at
   most c has m sum lambda <= c N*(X L_lambda X^T); in particular c >= m sum lambda when
   N*(X L_lambda X^T) <= 1. *)
Theorem C3 (le dle : 'M[R]_d -> R -> Prop) X lam m W c s : dual_pair le dle ->
  (forall i j, 0 <= lam i j) -> (forall i, lam i i = 0) ->
  diagonal_margin X m W -> le W c -> dle (X *m laplacian lam *m X^T) s ->
  m * (\sum_i \sum_j lam i j) <= c * s.
Proof.
move=> pair lam0 lamD mW leW dleG; apply: (le_trans _ (pairing pair leW dleG)).
apply: (le_trans _ (ler_norm _)); rewrite inner_laplacian mulr_sumr; apply: ler_sum => i _.
rewrite mulr_sumr; apply: ler_sum => j _; rewrite mulrC.
have [->|ij] := eqVneq i j; first by rewrite lamD !mul0r.
by apply: ler_wpmul2l => //; apply: mW.
Qed.

(* C3, uniform weights: any tokens, T >= 1, N*(XHX^T) <= s with s > 0: norm >= m (T-1)/s. *)
Theorem C3_uniform (le dle : 'M[R]_d -> R -> Prop) X m W c s : dual_pair le dle -> (0 < T)%N ->
  diagonal_margin X m W -> le W c -> dle (X *m centring *m X^T) s -> 0 < s ->
  m * (T%:R - 1) / s <= c.
Proof.
move=> pair T0 mW leW dleG s0; rewrite ler_pdivr_mulr //.
have TN0 : T%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
pose lam : 'M[R]_T := \matrix_(i, j) ((i != j)%:R / T%:R).
have rows i : \sum_j lam i j = 1 - T%:R^-1.
  under eq_bigr do rewrite mxE; rewrite -mulr_suml.
  have -> : \sum_j (i != j)%:R = T%:R - 1 :> R.
    have : \sum_(j < T) (i == j)%:R + \sum_(j < T) (i != j)%:R = T%:R :> R.
      rewrite -big_split /= (eq_bigr (fun=> 1)) ?sumr_const ?card_ord // => j _.
      by case: (i == j); rewrite ?addr0 ?add0r.
    rewrite (bigD1 i) //= eqxx big1 ?addr0 => [|j /negPf ji]; last by rewrite eq_sym ji.
    by move=> /(canRL (addKr _)) ->; rewrite addrC.
  by rewrite mulrBl divff // mul1r.
have L : laplacian lam = centring.
  apply/matrixP => i j; rewrite !mxE rows; have [_|ij] := eqVneq i j.
    by rewrite !mulr1n mul0r subr0.
  by rewrite !mulr0n !sub0r mul1r.
have lam0 i j : 0 <= lam i j by rewrite mxE divr_ge0 ?ler0n.
have lamD i : lam i i = 0 by rewrite mxE eqxx mul0r.
rewrite -L in dleG; have := C3 pair lam0 lamD mW leW dleG.
rewrite (eq_bigr (fun=> 1 - T%:R^-1)) => [|i _]; last exact: rows.
by rewrite sumr_const card_ord -[_ *+ T]mulr_natl [T%:R * _]mulrBr mulr1 divff.
Qed.

(* C6. Q = K = all content tokens: diagonal cost / sink cost >= delta_Q delta_K (T-1)/N*(XHX^T), for every
   diagonal W of norm c, with m > 0 and the sink's cost m/(|q||k|) from C1. *)
Theorem C6 (le dle : 'M[R]_d -> R -> Prop) X sink q k m W c s : dual_pair le dle -> (0 < T)%N ->
  min_norm_point (fun i => col i X) q -> min_norm_point (fun j => sink - col j X) k ->
  q != 0 -> k != 0 -> 0 < m -> 0 < s -> dle (X *m centring *m X^T) s ->
  diagonal_margin X m W -> le W c ->
  [/\ exists2 W0, sink_margin (fun i => col i X) (fun j => col j X) sink m W0 & le W0 (m / (norm q * norm k)),
      forall W c, sink_margin (fun i => col i X) (fun j => col j X) sink m W -> le W c -> m / (norm q * norm k) <= c
    & norm q * norm k * (T%:R - 1) / s <= c / (m / (norm q * norm k))].
Proof.
move=> pair T0 minq mink q0 k0 m0 s0 dleG mW leW.
have [mW0 le0 low] := C1 pair minq mink q0 k0 (ltW m0).
split=> //; first by exists ((m / (dot q q * dot k k)) *: (q *m k^T)).
have := C3_uniform pair T0 mW leW dleG s0; have [nq nk] : 0 < norm q /\ 0 < norm k by rewrite !norm_gt0.
rewrite ler_pdivl_mulr ?divr_gt0 ?mulr_gt0 //; apply: le_trans.
rewrite le_eqVlt; apply/orP; left; apply/eqP; field.
by rewrite !gt_eqF.
Qed.
End Diagonal.

(* The hypotheses of C3 can be met: orthonormal tokens and W = m I. *)
Lemma C3_satisfiable (R : rcfType) T (m : R) : diagonal_margin (1%:M : 'M[R]_T) m m%:M.
Proof.
move=> i j /negPf ij; rewrite /logits trmx1 mul1mx mulmx1 !mxE eqxx ij mulr0n subr0.
exact: lexx.
Qed.

(* The hypotheses of C6 can be met: two orthonormal tokens, the sink 0, W = m I, in the Frobenius norm. *)
Lemma C6_satisfiable (R : rcfType) (m : R) : exists (X : 'M[R]_2) (sink q k : 'cV[R]_2) (W : 'M[R]_2) (c s : R),
  [/\ min_norm_point (fun i => col i X) q, min_norm_point (fun j => sink - col j X) k, q != 0 /\ k != 0,
      diagonal_margin X m W & [/\ 0 < s, frobenius_le (X *m centring R 2 *m X^T) s & frobenius_le W c]].
Proof.
pose q : 'cV[R]_2 := const_mx 2^-1.
have qq : dot q q = 2^-1 by rewrite dotE big_ord_recl big_ord1 !mxE; field.
have qx i : dot q (col i 1%:M) = 2^-1.
  rewrite dotE (bigD1 i) //= !mxE eqxx mulr1 big1 ?addr0 // => j /negPf ji; by rewrite !mxE ji mulr0.
have q0 : q != 0 by apply/eqP => /matrixP /(_ 0 0) /eqP; rewrite !mxE invr_eq0 pnatr_eq0.
have mnp (y : 'I_2 -> 'cV[R]_2) t : (forall i, y i = t *: col i 1%:M) -> min_norm_point y (t *: q).
  move=> yE; split; last by move=> i; rewrite yE !dotZl !dotZr qq qx lexx.
  exists (fun=> 2^-1); split; first split.
  - by move=> i; rewrite invr_ge0 ler0n.
  - by rewrite big_ord_recl big_ord1; field.
  - apply/matrixP => i j; rewrite summxE (bigD1 i) //= big1 ?addr0 => [|l /negPf li]; rewrite yE !mxE.
      by rewrite eqxx mulr1 mulrC.
    by rewrite eq_sym li !mulr0.
exists 1%:M, 0, q, (-1 *: q), m%:M, (frobenius (m%:M : 'M[R]_2)).
exists (frobenius (1%:M *m centring R 2 *m 1%:M^T) + 1); split.
- by rewrite -[q]scale1r; apply: mnp => i; rewrite scale1r.
- by apply: mnp => i; rewrite sub0r scaleN1r.
- by rewrite q0 scaleN1r oppr_eq0.
- exact: C3_satisfiable.
- split; rewrite /frobenius_le ?lexx //; last by rewrite ler_addl ler01.
  by rewrite ltr_paddl ?sqrtr_ge0 ?ltr01.
Qed.
