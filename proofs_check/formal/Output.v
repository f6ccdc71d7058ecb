(* E3 and E8 with Euclidean norms: how far a switch is from a sink, both ways, over any real closed field.          *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From sinkproof Require Import Hulls Mass Switch.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Definition norm2 (R : rcfType) (d : nat) (x : 'rV[R]_d) : R := Num.sqrt (dot x x).

Section Norm.
Variables (R : rcfType) (d : nat).
Implicit Types (x y : 'rV[R]_d).

Lemma norm2_ge0 x : 0 <= norm2 x.
Proof. exact: sqrtr_ge0. Qed.

Lemma norm2_sqr x : norm2 x ^+ 2 = dot x x.
Proof. by rewrite sqr_sqrtr ?dot_ge0. Qed.

Lemma norm2Z c x : norm2 (c *: x) = `|c| * norm2 x.
Proof. by rewrite /norm2 dotZl dotZr mulrA -expr2 sqrtrM ?sqr_ge0 // sqrtr_sqr. Qed.

Lemma dot_le x y : `|dot x y| <= norm2 x * norm2 y.
Proof.
rewrite -(ler_pexpn2r (n := 2)) ?nnegrE ?normr_ge0 ?mulr_ge0 ?norm2_ge0 //.
by rewrite exprMn !norm2_sqr -normrX ger0_norm ?sqr_ge0 ?cauchy_schwarz.
Qed.

Lemma norm2D x y : norm2 (x + y) <= norm2 x + norm2 y.
Proof.
rewrite -(ler_pexpn2r (n := 2)) ?nnegrE ?addr_ge0 ?norm2_ge0 //.
rewrite sqrrD !norm2_sqr dotDl !dotDr (dotC y x) addrA ler_add2r -addrA ler_add2l -mulr2n ler_muln2r /=.
exact: le_trans (ler_norm _) (dot_le _ _).
Qed.

Lemma norm2_sum (I : finType) (P : pred I) (a : I -> R) (v : I -> 'rV[R]_d) :
  (forall i, P i -> 0 <= a i) -> norm2 (\sum_(i | P i) a i *: v i) <= \sum_(i | P i) a i * norm2 (v i).
Proof.
move=> a0; elim/big_rec2: _ => [|i r y Pi le]; first by rewrite /norm2 dot0l sqrtr0.
by apply: le_trans (norm2D _ _) _; rewrite norm2Z ger0_norm ?a0 // ler_add2l.
Qed.

End Norm.

Lemma off_sink (R : rcfType) (T : finType) (s : T) (a : T -> R) : \sum_j a j = 1 -> 1 - a s = \sum_(j | j != s) a j.
Proof. by move=> <-; rewrite (bigD1 s) //= addrAC subrr add0r. Qed.

(* E3, lower bound.  |u| = 1, <u, v_j> >= gamma for content keys, |v_s| <= eta: |o| >= gamma (1 - a_s) - eta a_s. *)
Theorem E3_lower (R : rcfType) (d : nat) (T : finType) (v : T -> 'rV[R]_d) (s : T) (u : 'rV[R]_d)
    (gamma eta : R) (a : T -> R) :
  norm2 u = 1 -> (forall j, j != s -> gamma <= dot u (v j)) -> norm2 (v s) <= eta ->
  (forall j, 0 <= a j) -> \sum_j a j = 1 ->
  gamma * (1 - a s) - eta * a s <= norm2 (\sum_j a j *: v j).
Proof.
move=> u1 hg he a0 a1; apply: le_trans (_ : dot u (\sum_j a j *: v j) <= _); last first.
  by apply: le_trans (ler_norm _) _; apply: le_trans (dot_le _ _) _; rewrite u1 mul1r.
rewrite dot_sumr (bigD1 s) //= [X in _ <= X]addrC ler_add //.
  rewrite (off_sink s a1) mulr_sumr; apply: ler_sum => j js.
  by rewrite dotZr mulrC ler_wpmul2l ?hg.
rewrite dotZr mulrC -mulrN ler_wpmul2l // ler_oppl.
rewrite -dotNr; apply: le_trans (ler_norm _) _; apply: le_trans (dot_le _ _) _.
by rewrite u1 mul1r -scaleN1r norm2Z normrN1 mul1r.
Qed.

(* E3, upper bound.  |v_j| <= B for content keys and |v_s| <= eta: |o| <= B (1 - a_s) + eta a_s. *)
Theorem E3_upper (R : rcfType) (d : nat) (T : finType) (v : T -> 'rV[R]_d) (s : T) (B eta : R) (a : T -> R) :
  (forall j, j != s -> norm2 (v j) <= B) -> norm2 (v s) <= eta ->
  (forall j, 0 <= a j) -> \sum_j a j = 1 ->
  norm2 (\sum_j a j *: v j) <= B * (1 - a s) + eta * a s.
Proof.
move=> hB he a0 a1; apply: le_trans (norm2_sum _ (fun j _ => a0 j)) _.
rewrite (bigD1 s) //= [X in X <= _]addrC ler_add //; last by rewrite mulrC ler_wpmul2r.
rewrite (off_sink s a1) mulr_sumr; apply: ler_sum => j js.
by rewrite mulrC ler_wpmul2r ?hB.
Qed.

(* E3, a switch is a sink: with gamma > 0, |o| <= omega forces 1 - a_s <= (omega + eta)/(gamma + eta). *)
Theorem E3_switch (R : rcfType) (d : nat) (T : finType) (v : T -> 'rV[R]_d) (s : T) (u : 'rV[R]_d)
    (gamma eta omega : R) (a : T -> R) :
  0 < gamma -> norm2 u = 1 -> (forall j, j != s -> gamma <= dot u (v j)) -> norm2 (v s) <= eta ->
  (forall j, 0 <= a j) -> \sum_j a j = 1 ->
  norm2 (\sum_j a j *: v j) <= omega -> 1 - a s <= (omega + eta) / (gamma + eta).
Proof.
move=> g0 u1 hg he a0 a1 ho; have e0 : 0 <= eta := le_trans (norm2_ge0 _) he.
rewrite ler_pdivl_mulr; last by rewrite ltr_spaddl.
have := le_trans (E3_lower u1 hg he a0 a1) ho; rewrite -subr_ge0 => h; rewrite -subr_ge0.
by move: h; congr (0 <= _); ring.
Qed.

(* E3, a sink is a switch: a_s >= 1 - delta gives |o| <= eta + delta max(B - eta, 0). *)
Theorem E3_sink (R : rcfType) (d : nat) (T : finType) (v : T -> 'rV[R]_d) (s : T) (B eta delta : R) (a : T -> R) :
  (forall j, j != s -> norm2 (v j) <= B) -> norm2 (v s) <= eta ->
  (forall j, 0 <= a j) -> \sum_j a j = 1 -> 1 - delta <= a s ->
  norm2 (\sum_j a j *: v j) <= eta + delta * Num.max (B - eta) 0.
Proof.
move=> hB he a0 a1 hd; apply: le_trans (E3_upper hB he a0 a1) _.
have -> : B * (1 - a s) + eta * a s = eta + (1 - a s) * (B - eta) by ring.
have as1 : 0 <= 1 - a s by rewrite (off_sink s a1) sumr_ge0.
rewrite ler_add2l; apply: le_trans (_ : (1 - a s) * Num.max (B - eta) 0 <= _).
  by rewrite ler_wpmul2l // le_maxr lexx.
by rewrite ler_wpmul2r ?le_maxr ?lexx ?orbT // ler_subl_addr -ler_subl_addl.
Qed.

Lemma E3_satisfiable (R : rcfType) :
  exists (v : bool -> 'rV[R]_1) (u : 'rV[R]_1) (a : bool -> R),
    [/\ norm2 u = 1, forall j, j != true -> 1 <= dot u (v j) /\ norm2 (v j) <= 1, norm2 (v true) <= 0,
        forall j, 0 <= a j & \sum_j a j = 1].
Proof.
have n1 : norm2 (const_mx 1 : 'rV[R]_1) = 1 by rewrite /norm2 /dot big_ord1 mxE mulr1 sqrtr1.
exists (fun t => if t then 0 else const_mx 1), (const_mx 1), (fun t => t%:R).
split=> [|[]// _|||]; rewrite ?n1 ?lexx //.
- by rewrite /dot big_ord1 !mxE mulr1 lexx.
- by rewrite /norm2 dot0l sqrtr0.
- by move=> j; rewrite ler0n.
- by rewrite big_bool /= addr0.
Qed.

Lemma big_option (R : ringType) (K : finType) (f : option K -> R) :
  \sum_j f j = f None + \sum_(k : K) f (Some k).
Proof.
rewrite (bigD1 None) //= (reindex_omap Some id) => [|[k|] //].
by congr (_ + _); apply: eq_bigl => k; rewrite eqxx.
Qed.

(* E8, quantitative.  The row sees the sink (None) and n >= 1 content keys (Some k); its weights are the softmax of *)
(* logits with exponentials z > 0.  Under E3's hypotheses with delta = (omega + eta)/(gamma + eta) < 1, an          *)
(* omega-switch has mean margin at least log(n (1 - delta)/delta): the product of the e^-m_k = z_k/z_s is at most   *)
(* (delta/(n (1 - delta)))^n; every single margin is at least log((1 - delta)/delta).                               *)
Theorem E8_switch (R : rcfType) (d : nat) (K : finType) (v : option K -> 'rV[R]_d) (u : 'rV[R]_d)
    (gamma eta omega delta : R) (z : option K -> R) :
  0 < gamma -> norm2 u = 1 -> (forall k, gamma <= dot u (v (Some k))) -> norm2 (v None) <= eta ->
  (forall j, 0 < z j) -> (0 < #|K|)%N ->
  norm2 (\sum_j (z j / \sum_i z i) *: v j) <= omega ->
  delta = (omega + eta) / (gamma + eta) -> delta < 1 ->
  \prod_k (z (Some k) / z None) <= (delta / (#|K|%:R * (1 - delta))) ^+ #|K| /\
  forall k, z (Some k) / z None <= delta / (1 - delta).
Proof.
move=> g0 u1 hg he z0 n0 ho dE d1.
have zs0 : 0 < \sum_i z i by rewrite big_option total_gt0.
have a1 : \sum_j (z j / \sum_i z i) = 1 by rewrite -mulr_suml divff // gt_eqF.
have a0 j : 0 <= z j / (\sum_i z i) by rewrite divr_ge0 // ltW.
have hg' j : j != None -> gamma <= dot u (v j) by case: j.
have hm : 1 - delta <= mass (z None) (fun k => z (Some k)).
  have := E3_switch g0 u1 hg' he a0 a1 ho.
  by rewrite -dE ler_subl_addr -ler_subl_addl /mass -big_option.
have z0' k : 0 < z (Some k) by [].
by split=> [|k]; [exact: (E8_mean_margin n0 (z0 None) z0' d1 hm) | exact: (G5_mass k (z0 None) z0' d1 hm)].
Qed.

(* The hypotheses of E8_switch can be met: one content key with value 1, equal logits, omega = delta = 1/2. *)
Lemma E8_switch_satisfiable (R : rcfType) :
  exists (v : option unit -> 'rV[R]_1) (u : 'rV[R]_1) (z : option unit -> R) (omega : R),
    [/\ norm2 u = 1, forall k, 1 <= dot u (v (Some k)), norm2 (v None) <= 0, forall j, 0 < z j
      & norm2 (\sum_j (z j / \sum_i z i) *: v j) <= omega /\ (omega + 0) / (1 + 0) < 1].
Proof.
have n1 : norm2 (const_mx 1 : 'rV[R]_1) = 1 by rewrite /norm2 /dot big_ord1 mxE mulr1 sqrtr1.
have half : 0 < 2%:R^-1 :> R by rewrite invr_gt0 ltr0n.
exists (fun t => if t is Some _ then const_mx 1 else 0), (const_mx 1), (fun=> 1), 2%:R^-1; split.
- exact: n1.
- by move=> k; rewrite /dot big_ord1 !mxE mulr1 lexx.
- by rewrite /norm2 dot0l sqrtr0.
- by move=> j; rewrite ltr01.
split; last by rewrite !addr0 divr1 invf_lt1 ?ltr0n // (ltr_nat _ 1 2).
rewrite sumr_const card_option card_unit (bigD1 None) //= scaler0 add0r (big_pred1 (Some tt)) => [|[[]|] //].
by rewrite norm2Z n1 mulr1 div1r gtr0_norm.
Qed.
