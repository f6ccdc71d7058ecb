(* C4 and C5: both costs for exchangeable tokens, for every number T of them. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From sinkproof Require Import Costs CostsSink CostsDiagonal.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Exchangeable.
Variables (R : rcfType) (d T : nat).

(* exch(T,r,rho,beta,sigma): tokens are the columns of X, the sink is s. *)
Record exch (X : 'M[R]_(d, T)) (s : 'cV[R]_d) (r rho beta sigma : R) : Prop := Exch {
  exch_same : forall i, dot (col i X) (col i X) = r ^+ 2;
  exch_diff : forall i j, i != j -> dot (col i X) (col j X) = r ^+ 2 * rho;
  exch_sink : forall i, dot s (col i X) = r ^+ 2 * beta;
  exch_self : dot s s = r ^+ 2 * sigma ^+ 2 }.

Definition rhoT (rho : R) := rho + (1 - rho) / T%:R.
Definition gap (rho beta sigma : R) := sigma ^+ 2 - 2 * beta + rhoT rho.

Variables (X : 'M[R]_(d, T)) (s : 'cV[R]_d) (r rho beta sigma : R).
Hypotheses (E : exch X s r rho beta sigma) (T0 : (0 < T)%N).
Let x i := col i X.
Let centroid := \sum_i T%:R^-1 *: x i.

Local Lemma TN0 : T%:R != 0 :> R. Proof. by rewrite pnatr_eq0 -lt0n. Qed.
Local Lemma mean_const (c : R) : \sum_(i < T) T%:R^-1 * c = c.
Proof. by rewrite sumr_const card_ord -mulr_natl mulrA divff ?TN0 // mul1r. Qed.

Local Lemma dot_tokens i j : dot (x i) (x j) = r ^+ 2 * (rho + (1 - rho) * (i == j)%:R).
Proof.
have [<-|ij] := eqVneq i j; first by rewrite (exch_same E) mulr1 addrC subrK mulr1.
by rewrite (exch_diff E) // mulr0 addr0.
Qed.

Local Lemma dot_centroid i : dot centroid (x i) = r ^+ 2 * rhoT rho.
Proof.
rewrite dot_suml; under eq_bigr do rewrite dotZl dot_tokens mulrCA mulrDr.
rewrite -mulr_sumr big_split /= mean_const; congr (_ * (_ + _)).
rewrite (bigD1 i) //= eqxx mulr1 big1 ?addr0 => [|j /negPf ->]; last by rewrite !mulr0.
by rewrite mulrC.
Qed.

Local Lemma dot_centroid2 : dot centroid centroid = r ^+ 2 * rhoT rho.
Proof. by rewrite {2}/centroid dot_sumr; under eq_bigr do rewrite dotZr dot_centroid; rewrite mean_const. Qed.

Local Lemma dot_sink_centroid : dot s centroid = r ^+ 2 * beta.
Proof. by rewrite dot_sumr; under eq_bigr do rewrite dotZr (exch_sink E); rewrite mean_const. Qed.

Local Lemma uniform_weights : convex_weights (fun _ : 'I_T => T%:R^-1 : R).
Proof. by split=> [i|]; rewrite ?invr_ge0 ?ler0n // -[RHS]mean_const; apply: eq_bigr => i _; rewrite mulr1. Qed.

Lemma min_norm_queries : min_norm_point x centroid.
Proof. by split=> [|i]; [exists (fun=> T%:R^-1); split => //; apply: uniform_weights | rewrite dot_centroid dot_centroid2]. Qed.

Let k := s - centroid.
Local Lemma dot_k i : dot k (s - x i) = r ^+ 2 * gap rho beta sigma.
Proof.
rewrite /k -[- centroid]scaleN1r -[- x i]scaleN1r !dotDl !dotDr !dotZl !dotZr dot_centroid.
rewrite (exch_self E) (exch_sink E) [dot centroid s]dotC dot_sink_centroid /gap; ring.
Qed.
Local Lemma dot_kk : dot k k = r ^+ 2 * gap rho beta sigma.
Proof.
rewrite /k -[- centroid]scaleN1r !dotDl !dotDr !dotZl !dotZr dot_centroid2.
rewrite (exch_self E) [dot centroid s]dotC dot_sink_centroid /gap; ring.
Qed.

Lemma min_norm_keys : min_norm_point (fun j => s - x j) k.
Proof.
split=> [|i]; last by rewrite dot_k dot_kk.
exists (fun=> T%:R^-1); split; first exact: uniform_weights.
under eq_bigr do rewrite scalerBr; rewrite sumrB sumr_const card_ord -scaler_nat scalerA.
by rewrite divff ?TN0 // scale1r.
Qed.
End Exchangeable.

Section Arithmetic.
Variable F : fieldType.
Local Lemma cancel_square (a e t : F) : e != 0 -> a / e ^+ 2 * (e * t) = a * t / e.
Proof. by move=> e0; field. Qed.
Local Lemma cancel_right (a e t : F) : e != 0 -> t != 0 -> a * t / (e * t) = a / e.
Proof. by move=> e0 t0; field; rewrite e0 t0. Qed.
End Arithmetic.

Section Costs.
Variables (R : rcfType) (d : nat).
Implicit Types (r rho beta sigma m : R).

(* C4, sink: for every dual pair the least norm is m/(r^2 sqrt(rho_T) sqrt(sigma^2 - 2 beta + rho_T)). *)
Theorem C4_sink (le dle : 'M[R]_d -> R -> Prop) T (X : 'M[R]_(d, T)) s r rho beta sigma m :
  dual_pair le dle -> exch X s r rho beta sigma -> (0 < T)%N -> 0 < r -> 0 <= m ->
  0 < rhoT T rho -> 0 < gap T rho beta sigma ->
  let cost := m / (r ^+ 2 * Num.sqrt (rhoT T rho) * Num.sqrt (gap T rho beta sigma)) in
  (exists2 W, sink_margin (fun i => col i X) (fun j => col j X) s m W & le W cost)
  /\ (forall W c, sink_margin (fun i => col i X) (fun j => col j X) s m W -> le W c -> cost <= c).
Proof.
move=> pair E T0 r0 m0 rT0 g0 cost.
have minq := min_norm_queries E T0; have mink := min_norm_keys E T0.
set q := (\sum_i _) in minq; set k := (s - _) in mink.
have nq : norm q = r * Num.sqrt (rhoT T rho).
  by rewrite /norm (dot_centroid2 E T0) sqrtrM ?sqr_ge0 // sqrtr_sqr gtr0_norm.
have nk : norm k = r * Num.sqrt (gap T rho beta sigma).
  by rewrite /norm (dot_kk E T0) sqrtrM ?sqr_ge0 // sqrtr_sqr gtr0_norm.
have q0 : q != 0 by rewrite -norm_gt0 nq mulr_gt0 ?sqrtr_gt0.
have k0 : k != 0 by rewrite -norm_gt0 nk mulr_gt0 ?sqrtr_gt0.
have [mW0 le0 low] := C1 pair minq mink q0 k0 m0.
have e : m / (norm q * norm k) = cost.
  by rewrite nq nk /cost; congr (_ / _); ring.
by rewrite e in le0 low; split=> //; exists ((m / (dot q q * dot k k)) *: (q *m k^T)).
Qed.

Section Diagonal.
Variables (T : nat) (X : 'M[R]_(d, T)) (r rho : R).
Hypotheses (gram_same : forall i, dot (col i X) (col i X) = r ^+ 2)
  (gram_diff : forall i j, i != j -> dot (col i X) (col j X) = r ^+ 2 * rho).
Hypotheses (T2 : (2 <= T)%N) (r0 : 0 < r) (rho1 : rho < 1).
Let c := r ^+ 2 * (1 - rho).
Let H : 'M[R]_T := centring R T.
Let P := X *m H *m X^T.

Local Lemma c_gt0 : 0 < c. Proof. by rewrite mulr_gt0 ?subr_gt0 ?exprn_gt0. Qed.
Local Lemma n_gt0 : 0 < T%:R - 1 :> R. Proof. by rewrite subr_gt0 ltr1n. Qed.
Local Lemma HT : H^T = H.
Proof. by apply/matrixP => i j; rewrite !mxE eq_sym. Qed.
Local Lemma ones_H : (const_mx 1 : 'rV[R]_T) *m H = 0.
Proof.
have TN0 : T%:R != 0 :> R by rewrite pnatr_eq0 -lt0n ltnW.
rewrite mulmxBr mulmx1; apply/matrixP => i j; rewrite !mxE.
under eq_bigr do rewrite !mxE mul1r.
by rewrite sumr_const card_ord -mulr_natl divff // subrr.
Qed.
Local Lemma gramE : X^T *m X = c *: 1%:M + (const_mx 1 : 'cV_T) *m ((r ^+ 2 * rho) *: const_mx 1 : 'rV_T).
Proof.
apply/matrixP => i j; have -> : (X^T *m X) i j = dot (col i X) (col j X).
  by rewrite dotE mxE; apply: eq_bigr => l _; rewrite !mxE.
rewrite !mxE big_ord1 !mxE mulr1 mul1r; have [<-|ij] := eqVneq i j; last by rewrite gram_diff // mulr0 add0r.
by rewrite gram_same mulr1 /c; ring.
Qed.
Local Lemma gram_H : X^T *m X *m H = c *: H.
Proof. by rewrite gramE mulmxDl -mulmxA -!scalemxAl ones_H scaler0 mulmx0 addr0 mul1mx. Qed.
Local Lemma H_gram : H *m (X^T *m X) = c *: H.
Proof. by apply: trmx_inj; rewrite trmx_mul HT trmx_mul trmxK gram_H linearZ /= HT. Qed.
Local Lemma HH : H *m H = H.
Proof.
rewrite {1}/H /centring mulmxBl mul1mx.
have -> : (const_mx T%:R^-1 : 'M[R]_T) = (const_mx T%:R^-1 : 'cV_T) *m (const_mx 1 : 'rV_T).
  by apply/matrixP => i j; rewrite !mxE big_ord1 !mxE mulr1.
by rewrite -mulmxA ones_H mulmx0 subr0.
Qed.
Local Lemma trH : \tr H = T%:R - 1.
Proof.
have TN0 : T%:R != 0 :> R by rewrite pnatr_eq0 -lt0n ltnW.
rewrite linearB /= mxtrace1; congr (_ - _); rewrite /mxtrace (eq_bigr (fun=> T%:R^-1)) => [|i _]; last by rewrite mxE.
by rewrite sumr_const card_ord -[_ *+ T]mulr_natl divff.
Qed.
Local Lemma PP : P *m P = c *: P.
Proof. by rewrite /P !mulmxA -[X *m H *m X^T *m X]mulmxA -[X *m H *m _]mulmxA H_gram -scalemxAr -!scalemxAl -[X *m H *m H]mulmxA HH. Qed.
Local Lemma PT : P^T = P.
Proof. by rewrite /P !trmx_mul trmxK HT mulmxA. Qed.
Local Lemma trP : \tr P = c * (T%:R - 1).
Proof. by rewrite /P mxtrace_mulC mulmxA gram_H linearZ /= trH. Qed.

Local Lemma P_frobenius : frobenius P = c * Num.sqrt (T%:R - 1).
Proof.
rewrite /frobenius /inner PT PP linearZ /= trP mulrA -expr2 sqrtrM ?sqr_ge0 //.
by rewrite sqrtr_sqr gtr0_norm ?c_gt0.
Qed.

Local Lemma P_spectral : spectral_le P c.
Proof.
split=> [|u v]; first exact: ltW c_gt0.
have Pv : norm (P *m v) <= c * norm v.
  have [->|n0] := eqVneq (P *m v) 0; first by rewrite {1}/norm dot0l sqrtr0 mulr_ge0 ?norm_ge0 // ltW ?c_gt0.
  have : norm (P *m v) ^+ 2 <= c * (norm v * norm (P *m v)).
    have -> : norm (P *m v) ^+ 2 = c * dot v (P *m v).
      by rewrite norm_sqr /dot trmx_mul PT -mulmxA [P *m _]mulmxA PP -scalemxAl -scalemxAr mxE.
    apply: ler_wpmul2l; first exact: ltW c_gt0.
    exact: le_trans (ler_norm _) (dot_le _ _).
  by rewrite expr2 mulrA ler_pmul2r // norm_gt0.
apply: le_trans (dot_le _ _) _; rewrite mulrCA; apply: ler_wpmul2l => //; exact: norm_ge0.
Qed.

Local Lemma P_nuclear t : 0 <= t -> nuclear_le (t *: P) (t * (c * (T%:R - 1))).
Proof.
move=> t0; pose Y := X *m H; have YY : P = Y *m Y^T.
  by rewrite /Y trmx_mul HT mulmxA -[X *m H *m H]mulmxA HH.
exists T, (fun i => t *: col i Y), (fun i => col i Y); split.
  rewrite YY; apply/matrixP => i j; rewrite !mxE mulr_sumr summxE; apply: eq_bigr => l _.
  by rewrite !mxE big_ord1 !mxE mulrA.
under eq_bigr do rewrite normZ ger0_norm // -mulrA -expr2 norm_sqr.
rewrite -mulr_sumr; apply: ler_wpmul2l => //; rewrite le_eqVlt; apply/orP; left; apply/eqP.
rewrite -trP YY mxtrace_mulC; apply: eq_bigr => i _; rewrite dotE mxE.
by apply: eq_bigr => l _; rewrite !mxE.
Qed.

Let W0 m := (m / c ^+ 2) *: P.
Local Lemma W0_margin m : 0 <= m -> diagonal_margin X m (W0 m).
Proof.
move=> m0 i j ij; have L : logits X (W0 m) = m *: H.
  rewrite /logits /W0 -scalemxAr -scalemxAl /P !mulmxA gram_H -[_ *m X^T *m X]mulmxA -!scalemxAl H_gram !scalerA.
  by congr (_ *: _); field; rewrite gt_eqF ?c_gt0.
rewrite L !mxE eqxx (negPf ij) !mulrBr mulr1 mulr0 opprB addrA subrK subr0.
exact: lexx.
Qed.

(* C4, diagonal: the least norm is m (T-1)^(1/p)/(r^2 (1-rho)), attained by a multiple of XHX^T (which is
   r^2 (1-rho) times the projector on the centred span): p = 2, ... *)
Theorem C4_diagonal_frobenius m : 0 <= m ->
  let cost := m * Num.sqrt (T%:R - 1) / c in
  (diagonal_margin X m (W0 m) /\ frobenius_le (W0 m) cost)
  /\ (forall W b, diagonal_margin X m W -> frobenius_le W b -> cost <= b).
Proof.
move=> m0 cost; have s0 : 0 < Num.sqrt (T%:R - 1 : R) by rewrite sqrtr_gt0 n_gt0.
split; first split; first exact: W0_margin.
  rewrite /frobenius_le /W0 /frobenius innerZl innerC innerZl mulrA -expr2 sqrtrM ?sqr_ge0 // sqrtr_sqr.
  rewrite ger0_norm ?divr_ge0 ?sqr_ge0 // -/(frobenius P) P_frobenius le_eqVlt; apply/orP; left; apply/eqP.
  by rewrite cancel_square // gt_eqF ?c_gt0.
move=> W b mW bW; have := C3_uniform (frobenius_pair R d d) (ltnW T2) mW bW (lexx _).
rewrite -/H -/P P_frobenius => /(_ (mulr_gt0 c_gt0 s0)); apply: le_trans.
rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite /cost; set sq := Num.sqrt _ in s0 *.
have -> : T%:R - 1 = sq * sq by rewrite -expr2 sqr_sqrtr // ltW ?n_gt0.
by rewrite mulrA cancel_right // gt_eqF ?c_gt0.
Qed.

(* ... p = 1 (nuclear), ... *)
Theorem C4_diagonal_nuclear m : 0 <= m ->
  let cost := m * (T%:R - 1) / c in
  (diagonal_margin X m (W0 m) /\ nuclear_le (W0 m) cost)
  /\ (forall W b, diagonal_margin X m W -> nuclear_le W b -> cost <= b).
Proof.
move=> m0 cost; split; first split; first exact: W0_margin.
  have -> : cost = m / c ^+ 2 * (c * (T%:R - 1)) by rewrite cancel_square // gt_eqF ?c_gt0.
  by apply: P_nuclear; rewrite divr_ge0 ?sqr_ge0.
by move=> W b mW bW; apply: (C3_uniform (nuclear_pair R d d) (ltnW T2) mW bW P_spectral c_gt0).
Qed.

(* ... and p = infinity (spectral). *)
Theorem C4_diagonal_spectral m : 0 <= m ->
  let cost := m / c in
  (diagonal_margin X m (W0 m) /\ spectral_le (W0 m) cost)
  /\ (forall W b, diagonal_margin X m W -> spectral_le W b -> cost <= b).
Proof.
move=> m0 cost; split; first split; first exact: W0_margin.
  have [_ Pc] := P_spectral; split=> [|u v]; first by rewrite divr_ge0 // ltW ?c_gt0.
  rewrite /W0 -scalemxAl dotZr normrM ger0_norm ?divr_ge0 ?sqr_ge0 //.
  have -> : cost = m / c ^+ 2 * c by have := @cancel_square R m c 1; rewrite !mulr1 => ->; rewrite ?gt_eqF ?c_gt0.
  by rewrite -[_ * c * _]mulrA; apply: ler_wpmul2l; rewrite ?divr_ge0 ?sqr_ge0.
move=> W b mW bW; have := @P_nuclear 1 ler01; rewrite scale1r mul1r => Pn.
have := C3_uniform (spectral_pair R d d) (ltnW T2) mW bW Pn (mulr_gt0 c_gt0 n_gt0); apply: le_trans.
rewrite le_eqVlt; apply/orP; left; apply/eqP; by rewrite cancel_right // gt_eqF ?c_gt0 ?n_gt0.
Qed.

(* ... and any dual pair that gives XHX^T norm a and dual norm b with ab = <XHX^T, XHX^T>: Schatten p has
   a = c (T-1)^(1/p), b = c (T-1)^(1-1/p), so that m a/c^2 is m (T-1)^(1/p)/c. *)
Theorem C4_diagonal (le dle : 'M[R]_d -> R -> Prop) a b m : dual_pair le dle -> 0 <= m ->
  le (W0 m) (m / c ^+ 2 * a) -> dle P b -> 0 < b -> a * b = c ^+ 2 * (T%:R - 1) ->
  (diagonal_margin X m (W0 m) /\ le (W0 m) (m / c ^+ 2 * a))
  /\ (forall W e, diagonal_margin X m W -> le W e -> m / c ^+ 2 * a <= e).
Proof.
move=> pair m0 leW0 dleP b0 ab; split; first by split=> //; apply: W0_margin.
move=> W e mW leW; have := C3_uniform pair (ltnW T2) mW leW dleP b0; apply: le_trans.
rewrite ler_pdivl_mulr // -[_ * a * b]mulrA ab [_ * (c ^+ 2 * _)]mulrA divfK //.
by rewrite expf_neq0 // gt_eqF ?c_gt0.
Qed.
End Diagonal.

(* The hypotheses can be met: orthonormal tokens and sink, in R^(T+1). *)
Lemma C4_satisfiable T : exch (\matrix_(l < T.+1, i < T) (l == lift 0 i)%:R) (\col_l (l == 0)%:R : 'cV[R]_T.+1) 1 0 0 1.
Proof.
have pick (a : 'I_T.+1) (f : 'I_T.+1 -> R) : \sum_l (l == a)%:R * f l = f a.
  by rewrite (bigD1 a) //= eqxx mul1r big1 ?addr0 // => l /negPf ->; rewrite mul0r.
split=> [i|i j ij|i|]; rewrite dotE ?expr1n ?mulr0 ?mulr1.
- by under eq_bigr do rewrite !mxE; rewrite pick eqxx.
- under eq_bigr do rewrite !mxE; rewrite pick (inj_eq lift_inj); by rewrite (negPf ij).
- by under eq_bigr do rewrite !mxE; rewrite pick.
- by under eq_bigr do rewrite !mxE; rewrite pick eqxx.
Qed.
End Costs.
