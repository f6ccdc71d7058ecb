(* C5: where the sink is cheaper than the diagonal, as arithmetic in the costs of C4. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From sinkproof Require Import Costs CostsSink CostsDiagonal CostsExchangeable.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Boundary.
Variable R : rcfType.
Implicit Types (r rho beta sigma m y : R) (T : nat).

(* The costs of C4; y stands for (T-1)^(1/p). *)
Definition sink_cost T r rho beta sigma m :=
  m / (r ^+ 2 * Num.sqrt (rhoT T rho) * Num.sqrt (gap T rho beta sigma)).
Definition diagonal_cost r rho m y := m * y / (r ^+ 2 * (1 - rho)).

(* C5. The sink is cheaper iff (1-rho)^2 < (T-1)^(2/p) rho_T (sigma^2 - 2 beta + rho_T). *)
Theorem C5 T r rho beta sigma m y : 0 < m -> 0 < r -> rho < 1 -> 0 <= y ->
  0 < rhoT T rho -> 0 < gap T rho beta sigma ->
  (sink_cost T r rho beta sigma m < diagonal_cost r rho m y)
  = ((1 - rho) ^+ 2 < y ^+ 2 * (rhoT T rho * gap T rho beta sigma)).
Proof.
move=> m0 r0 rho1 y0 a0 s0; have c0 : 0 < 1 - rho by rewrite subr_gt0.
set u := Num.sqrt (rhoT T rho) * Num.sqrt (gap T rho beta sigma).
have u0 : 0 < u by rewrite mulr_gt0 ?sqrtr_gt0.
have <- : u ^+ 2 = rhoT T rho * gap T rho beta sigma by rewrite exprMn !sqr_sqrtr ?ltW.
have r2 : 0 < r ^+ 2 by rewrite exprn_gt0.
have yu : 0 <= y * u := mulr_ge0 y0 (ltW u0).
rewrite /sink_cost /diagonal_cost -mulrA -/u ltr_pdivr_mulr; last exact: mulr_gt0 r2 u0.
rewrite mulrAC ltr_pdivl_mulr; last exact: mulr_gt0 r2 c0.
have -> : m * y * (r ^+ 2 * u) = m * r ^+ 2 * (y * u) by ring.
rewrite [m * (_ * _)]mulrA ltr_pmul2l; last exact: mulr_gt0 m0 r2.
by rewrite -exprMn ltr_pexpn2r // nnegrE ltW.
Qed.

(* Orthonormal tokens and sink: the sink costs m T/sqrt(T+1). *)
Theorem C5_orthonormal T m : (0 < T)%N -> sink_cost T 1 0 0 1 m = m * T%:R / Num.sqrt (T%:R + 1).
Proof.
move=> T0; have t0 : 0 < T%:R :> R by rewrite ltr0n.
have a : rhoT T 0 = T%:R^-1 :> R by rewrite /rhoT subr0 add0r mul1r.
have g : gap T 0 0 1 = (T%:R + 1) / T%:R :> R.
  by rewrite /gap a expr1n mulr0 subr0 mulrDl divff ?gt_eqF // mul1r.
rewrite /sink_cost a g expr1n mul1r -sqrtrM ?invr_ge0 ?ler0n // mulrCA -invfM -expr2.
rewrite sqrtrM ?addr_ge0 ?ler0n ?ler01 // sqrtrV ?sqr_ge0 // sqrtr_sqr gtr0_norm //.
by rewrite invfM invrK mulrA mulrAC.
Qed.

(* p = 1: the sink wins for every T >= 3 ... *)
Theorem C5_nuclear T m : 0 < m -> (3 <= T)%N -> m * T%:R / Num.sqrt (T%:R + 1) < m * (T%:R - 1).
Proof.
move=> m0 T3; have t3 : 0 <= T%:R - 3%:R :> R by rewrite subr_ge0 ler_nat.
have t2 : 0 < T%:R - 1 :> R by rewrite subr_gt0 ltr1n ltnW.
move: (T%:R : R) (ler0n R T) t3 t2 => t t0 t3 t2.
have t1 : 0 < t + 1 by apply: ltr_paddl t0 ltr01.
rewrite ltr_pdivr_mulr ?sqrtr_gt0 // -mulrA ltr_pmul2l //.
have rhs0 : 0 <= (t - 1) * Num.sqrt (t + 1) by apply: mulr_ge0 (ltW t2) (sqrtr_ge0 _).
rewrite -(@ltr_pexpn2r _ 2) // exprMn sqr_sqrtr ?ltW // -subr_gt0.
have -> : (t - 1) ^+ 2 * (t + 1) - t ^+ 2 = t ^+ 2 * (t - 3%:R) + t * (t - 1) + 1 by ring.
apply: ltr_paddl ltr01; apply: addr_ge0; first by apply: mulr_ge0 (sqr_ge0 t) t3.
exact: mulr_ge0 t0 (ltW t2).
Qed.

(* ... and loses for T = 2: C5_loses with y = 1. *)
(* p >= 2, that is y = (T-1)^(1/p) with y^2 <= T-1: the sink loses for every T. *)
Theorem C5_loses T m y : 0 < m -> 0 <= y -> y ^+ 2 <= T%:R - 1 ->
  m * y < m * T%:R / Num.sqrt (T%:R + 1).
Proof.
move=> m0 y0 yT; have t1 : 0 < T%:R + 1 :> R by rewrite ltr_paddl ?ler0n ?ltr01.
rewrite ltr_pdivl_mulr ?sqrtr_gt0 // -mulrA ltr_pmul2l //.
rewrite -(@ltr_pexpn2r _ 2) ?nnegrE ?ler0n ?mulr_ge0 ?sqrtr_ge0 //.
rewrite exprMn sqr_sqrtr ?ltW //; apply: le_lt_trans (ler_wpmul2r (ltW t1) yT) _.
rewrite -subr_gt0; suff -> : T%:R ^+ 2 - (T%:R - 1) * (T%:R + 1) = 1 :> R by rewrite ltr01.
by ring.
Qed.

(* p = 2: by the factor T/sqrt(T^2 - 1). *)
Theorem C5_factor T m : (2 <= T)%N ->
  m * T%:R / Num.sqrt (T%:R + 1) = T%:R / Num.sqrt (T%:R ^+ 2 - 1) * (m * Num.sqrt (T%:R - 1)).
Proof.
move=> T2; have t1 : 0 < T%:R + 1 :> R by rewrite ltr_paddl ?ler0n ?ltr01.
have t2 : 0 < T%:R - 1 :> R by rewrite subr_gt0 ltr1n.
rewrite (_ : T%:R ^+ 2 - 1 = (T%:R - 1) * (T%:R + 1)); last by ring.
rewrite sqrtrM ?ltW // [RHS]mulrAC [_ * Num.sqrt (T%:R + 1)]mulrC.
rewrite -(@CostsExchangeable.cancel_right R (m * T%:R) _ (Num.sqrt (T%:R - 1))) ?gt_eqF ?sqrtr_gt0 //.
by congr (_ / _); ring.
Qed.

(* Fixed rho > 0 and sigma^2 - 2 beta + rho > 0: the sink's cost is bounded in T. *)
Theorem C5_bounded T r rho beta sigma m : 0 <= m -> 0 < r -> 0 < rho -> rho < 1 ->
  0 < sigma ^+ 2 - 2 * beta + rho ->
  sink_cost T r rho beta sigma m
  <= m / (r ^+ 2 * Num.sqrt rho * Num.sqrt (sigma ^+ 2 - 2 * beta + rho)).
Proof.
move=> m0 r0 rho0 rho1 s0; have r2 : 0 < r ^+ 2 by rewrite exprn_gt0.
have le : rho <= rhoT T rho by rewrite /rhoT ler_addl divr_ge0 ?ler0n // subr_ge0 ltW.
have le' : sigma ^+ 2 - 2 * beta + rho <= gap T rho beta sigma by rewrite /gap ler_add2l.
have [a0 b0] := (lt_le_trans rho0 le, lt_le_trans s0 le').
apply: ler_wpmul2l => //; rewrite lef_pinv ?posrE ?mulr_gt0 ?sqrtr_gt0 //.
have [q1 q2] := (ler_wsqrtr le, ler_wsqrtr le').
apply: ler_pmul q2; rewrite ?sqrtr_ge0 //; first by rewrite mulr_ge0 ?sqrtr_ge0 // ltW.
exact: ler_wpmul2l (ltW r2) _ _ q1.
Qed.

(* At beta = rho = sigma^2 it is not: it is at least m sqrt T/(r^2 sqrt (1-rho)). *)
Theorem C5_unbounded T r rho sigma m : (0 < T)%N -> 0 <= m -> 0 < r -> 0 <= rho -> rho < 1 ->
  sigma ^+ 2 = rho ->
  m * Num.sqrt T%:R / (r ^+ 2 * Num.sqrt (1 - rho)) <= sink_cost T r rho rho sigma m.
Proof.
move=> T0 m0 r0 rho0 rho1 s2; have r2 : 0 < r ^+ 2 by rewrite exprn_gt0.
have t0 : 0 < T%:R :> R by rewrite ltr0n.
have c0 : 0 < 1 - rho by rewrite subr_gt0.
have g : gap T rho rho sigma = (1 - rho) / T%:R by rewrite /gap s2 /rhoT; ring.
have a0 : 0 < rhoT T rho by rewrite ltr_paddl ?divr_gt0.
have a1 : rhoT T rho <= 1.
  rewrite /rhoT -ler_subr_addl ler_pdivr_mulr // ler_pmulr // ler1n //.
rewrite /sink_cost g sqrtrM ?(ltW c0) // sqrtrV ?(ltW t0) //.
have [qt qc qa] : [/\ 0 < Num.sqrt T%:R :> R, 0 < Num.sqrt (1 - rho) & 0 < Num.sqrt (rhoT T rho)].
  by rewrite !sqrtr_gt0.
have q1 : Num.sqrt (rhoT T rho) <= 1 by rewrite -sqrtr1 ler_wsqrtr.
rewrite ler_pdivr_mulr ?mulr_gt0 // mulrAC ler_pdivl_mulr ?mulr_gt0 ?invr_gt0 //.
move: (Num.sqrt T%:R) (Num.sqrt (1 - rho)) (Num.sqrt (rhoT T rho)) qt qc qa q1 => t c a qt qc qa q1.
have -> : m * t * (r ^+ 2 * a * (c / t)) = m * (r ^+ 2 * c) * a by field; rewrite gt_eqF.
have w0 : 0 <= m * (r ^+ 2 * c) := mulr_ge0 m0 (mulr_ge0 (ltW r2) (ltW qc)).
by have := ler_wpmul2l w0 q1; rewrite mulr1.
Qed.
End Boundary.
