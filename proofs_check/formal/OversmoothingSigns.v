(* More than 500 lines, because the six sign theorems share one section of definitions and lemmas about the model. *)
(* O3, O4, O5, O7: signs of the moment cosine G_ij / sqrt (G_ii G_jj), with G from O1.

   S is the noise's covariance (positive semidefinite), K the norm's linear part, u the common
   direction, V = W_VO; drift D = 2 tau + phi.  The degenerate case (rho g, D) = (0, -t0), where the
   diagonal's output is 0, is excluded in O3, O4 and O7 as in the claim. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From sinkproof Require Import Oversmoothing.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Definitions.
Variables (R : rcfType) (d : nat).

Definition mcos T (G : 'I_T -> 'I_T -> R) i j : R := G i j / Num.sqrt (G i i * G j j).

(* A = 11^T/T,  A_t = (1-t) I + t 11^T/T,  and blocks of size k given by labels. *)
Definition uniform T : 'M[R]_T := const_mx T%:R^-1.
Definition mix T t : 'M[R]_T := (1 - t)%:M + t *: uniform T.
Definition blocks T (L : eqType) (label : 'I_T -> L) k : 'M[R]_T :=
  \matrix_(i, j) ((label i == label j)%:R / k%:R).
Definition equal_blocks T (L : eqType) (label : 'I_T -> L) k :=
  forall i, #|[pred j | label i == label j]| = k.
Definition mean_off_diagonal T (c : 'I_T -> 'I_T -> R) : R :=
  (\sum_i \sum_(j | j != i) c i j) / (T%:R * (T%:R - 1)).

Definition psd (S : 'M[R]_d) := forall v : 'rV_d, 0 <= (v *m S *m v^T) 0 0.
Definition drift (K S V : 'M[R]_d) : R := 2 * tau K S V + phi K S V.
Definition out_gram K S V u rho T (A : 'M[R]_T) : 'I_T -> 'I_T -> R :=
  gram rho (@gain R d K V u) (t0 K S) (tau K S V) (phi K S V) A.
Definition in_gram K S (u : 'cV[R]_d) rho T (i j : 'I_T) : R :=
  rho * sqnorm (K *m u) + (1 - rho) * ((i == j)%:R * t0 K S).
End Definitions.

Section Facts.
Variables (R : rcfType) (d : nat).
Implicit Types (K S V : 'M[R]_d) (u : 'cV[R]_d).

Lemma two_tokens T (i j : 'I_T) : i != j -> (2 <= T)%N.
Proof. by case: T i j => [[]|[|T]] // i j; rewrite [i]ord1 [j]ord1 eqxx. Qed.

Lemma sqnorm_ge0 n (v : 'cV[R]_n) : 0 <= sqnorm v.
Proof. by rewrite /sqnorm mxE; apply: sumr_ge0 => i _; rewrite mxE -expr2 sqr_ge0. Qed.

(* E|K(I + sV)z|^2 = t0 + 2 s tau + s^2 phi is never negative. *)
Lemma quadratic_ge0 K S V s : psd S -> 0 <= t0 K S + 2 * s * tau K S V + s ^+ 2 * phi K S V.
Proof.
move=> S0; set N := K *m (1%:M + s *: V).
have -> : t0 K S + 2 * s * tau K S V + s ^+ 2 * phi K S V = \tr (S *m (N^T *m N)).
  rewrite /N trmx_mul linearD /= trmx1 linearZ /= !(mulmxDl, mulmxDr) mul1mx !mulmx1.
  do ![rewrite -scalemxAl | rewrite -scalemxAr]; rewrite !(linearD, linearZ) /= /tau /t0 /phi /phi2 -scalemxAr linearZ /= mulmxDr linearD /=.
  rewrite !mulmxA mulrA [2 * s * _]mulrAC divff ?pnatr_eq0 // mul1r mulrDr.
  by rewrite [s * (s * _)]mulrA -expr2 !addrA.
rewrite mulmxA mxtrace_mulC mulmxA; apply: sumr_ge0 => k _.
have := S0 (row k N); rewrite -row_mul; congr (_ <= _).
by rewrite [in RHS]mxE [LHS]mxE; apply: eq_bigr => l _; rewrite !mxE.
Qed.

Lemma t0_ge0 K S : psd S -> 0 <= t0 K S.
Proof. by move=> S0; have := quadratic_ge0 K 0 0 S0; rewrite mulr0 mul0r expr0n mul0r !addr0. Qed.

Lemma drift_ge K S V : psd S -> 0 <= t0 K S + drift K S V.
Proof. by move=> S0; have := quadratic_ge0 K V 1 S0; rewrite expr1n mul1r mulr1 addrA. Qed.

Lemma mcosE T (G : 'I_T -> 'I_T -> R) i j : 0 < G i i -> G j j = G i i -> mcos G i j = G i j / G i i.
Proof. by move=> G0 e; rewrite /mcos e -expr2 sqrtr_sqr gtr0_norm. Qed.

Lemma fraction_sub (a b x y : R) : a + x != 0 -> b + y != 0 ->
  a / (a + x) - b / (b + y) = (a * y - b * x) / ((a + x) * (b + y)).
Proof. by move=> ax by0; field; rewrite ax by0. Qed.

Lemma gram_mix (rho g t f h : R) T s (i j : 'I_T) :
  gram rho g t f h (mix T s : 'M[R]_T) i j
  = rho * g + (1 - rho) * (2 * f + h - (2 * (1 - s) * f + (1 - s) ^+ 2 * h)) / T%:R
    + (i == j)%:R * ((1 - rho) * (t + 2 * (1 - s) * f + (1 - s) ^+ 2 * h)).
Proof.
have T0 : T%:R != 0 :> R by case: T i {j} => [[]|T] //; rewrite pnatr_eq0.
have mixE (p q : 'I_T) : mix T s p q = (1 - s) * (p == q)%:R + s / T%:R.
  by rewrite !mxE mulr_natr.
have -> : gram rho g t f h (mix T s) i j = rho * g + (1 - rho) * ((i == j)%:R * t
    + 2 * ((1 - s) * (i == j)%:R + s / T%:R) * f
    + ((1 - s) ^+ 2 * (i == j)%:R + (2 * (1 - s) * s + s ^+ 2) / T%:R) * h).
  rewrite /gram !mixE [j == i]eq_sym; congr (_ + _ * (_ + _ * _ + _ * _)); first by ring.
  rewrite mxE (eq_bigr (fun k => (i == k)%:R * ((1 - s) ^+ 2 * (j == k)%:R + (1 - s) * (s / T%:R))
      + (j == k)%:R * ((1 - s) * (s / T%:R)) + (s / T%:R) ^+ 2)); last first.
    by move=> k _; rewrite mixE [X in _ * X]mxE mixE; ring.
  have pick (F : 'I_T -> R) e : \sum_k (e == k)%:R * F k = F e.
    rewrite (bigD1 e) //= eqxx mul1r big1 ?addr0 // => k /negPf ke.
    by rewrite eq_sym ke mul0r.
  rewrite !big_split /= !pick sumr_const card_ord -mulr_natl [j == i]eq_sym.
  by field.
by field.
Qed.
End Facts.

(* The cosine along the mix is (P - c w(t)/T) / (P - c w(t)/T + c w(t)), w(t) = E|K(I + (1-t)V)z|^2. *)
Section Mix.
Variables (R : rcfType) (d T : nat) (K S V : 'M[R]_d) (u : 'cV[R]_d) (rho : R) (i j : 'I_T).
Hypotheses (S0 : psd S) (rho0 : 0 <= rho) (rho1 : rho < 1) (ij : i != j).
Hypothesis nondegenerate : (rho * gain K V u, drift K S V) != (0, - t0 K S).
Let w t := t0 K S + 2 * (1 - t) * tau K S V + (1 - t) ^+ 2 * phi K S V.
Let P := rho * gain K V u + (1 - rho) * (t0 K S + drift K S V) / T%:R.

Local Lemma T_gt0 : 0 < T%:R :> R.
Proof. by rewrite ltr0n; apply: leq_ltn_trans (ltn_ord i). Qed.

Local Lemma w_ge0 t : 0 <= w t. Proof. exact: quadratic_ge0. Qed.

Local Lemma interpolation_gt0 x : 0 < x ->
  0 < rho * gain K V u + (1 - rho) * (t0 K S + drift K S V) * x.
Proof.
move=> x0; have c0 : 0 < 1 - rho by rewrite subr_gt0.
have p0 : 0 <= rho * gain K V u by rewrite mulr_ge0 ?sqnorm_ge0.
have q0 : 0 <= (1 - rho) * (t0 K S + drift K S V) * x.
  by apply: mulr_ge0 (ltW x0); apply: mulr_ge0 (ltW c0) _; apply: drift_ge.
rewrite lt0r paddr_eq0 // addr_ge0 // andbT.
apply: contra nondegenerate => /andP[/eqP-> ].
by rewrite mulf_eq0 (gt_eqF x0) orbF mulf_eq0 (gt_eqF c0) /= addrC addr_eq0 => /eqP->.
Qed.

Local Lemma P_gt0 : 0 < P.
Proof. by apply: interpolation_gt0; rewrite invr_gt0 T_gt0. Qed.

Local Lemma denominator_gt0 t : 0 < P - (1 - rho) * w t / T%:R + (1 - rho) * w t.
Proof.
have -> : P - (1 - rho) * w t / T%:R + (1 - rho) * w t = P + (1 - rho) * w t * (1 - T%:R^-1) by ring.
rewrite ltr_paddr ?P_gt0 ?mulr_ge0 ?w_ge0 ?subr_ge0 ?(ltW rho1) // invf_le1 ?T_gt0 // ler1n.
by apply: leq_ltn_trans (ltn_ord i).
Qed.

Local Lemma mcos_mix t : mcos (out_gram K S V u rho (mix T t)) i j
  = (P - (1 - rho) * w t / T%:R) / (P - (1 - rho) * w t / T%:R + (1 - rho) * w t).
Proof.
have off p q : out_gram K S V u rho (mix T t) p q
    = P - (1 - rho) * w t / T%:R + (p == q)%:R * ((1 - rho) * w t).
  by rewrite /out_gram gram_mix /P /w /drift; ring.
by rewrite mcosE !off ?eqxx ?mul1r ?denominator_gt0 // (negPf ij) mul0r addr0.
Qed.

Local Lemma sg_cos_mix s t :
  Num.sg (mcos (out_gram K S V u rho (mix T t)) i j - mcos (out_gram K S V u rho (mix T s)) i j)
  = Num.sg ((t - s) * (2 * tau K S V + (2 - s - t) * phi K S V)).
Proof.
have [[dt ds] P0] := (denominator_gt0 t, denominator_gt0 s, P_gt0).
have c0 : 0 < 1 - rho by rewrite subr_gt0.
rewrite !mcos_mix.
set a := P - _ / _ in dt *; set b := P - _ / _ in ds *.
have -> : a / (a + (1 - rho) * w t) - b / (b + (1 - rho) * w s)
    = (1 - rho) * P / ((a + (1 - rho) * w t) * (b + (1 - rho) * w s))
      * ((t - s) * (2 * tau K S V + (2 - s - t) * phi K S V)).
  rewrite fraction_sub ?gt_eqF // mulrAC; congr (_ / _).
  by rewrite /a /b /w; ring.
by rewrite sgrM gtr0_sg ?mul1r // divr_gt0 ?mulr_gt0.
Qed.
End Mix.

Section Statements.
Variables (R : rcfType) (d : nat).
Implicit Types (K S V : 'M[R]_d) (u : 'cV[R]_d) (rho s t : R).

(* O3. For every T >= 2 and any norm, cos_uniform - cos_diagonal has the sign of the drift D
   (so equality iff D = 0). *)
Theorem O3 K S V u rho T (i j : 'I_T) : psd S -> 0 <= rho < 1 -> i != j ->
  (rho * gain K V u, drift K S V) != (0, - t0 K S) ->
  Num.sg (mcos (out_gram K S V u rho (uniform R T)) i j - mcos (out_gram K S V u rho 1%:M) i j)
  = Num.sg (drift K S V).
Proof.
move=> S0 /andP[r0 r1] ij nd; have := sg_cos_mix S0 r0 r1 ij nd 0 1.
have -> : mix T 0 = 1%:M :> 'M[R]_T by rewrite /mix subr0 scale0r addr0.
have -> : mix T 1 = uniform R T by rewrite /mix subrr scale1r raddf0 add0r.
by move=> ->; congr Num.sg; rewrite /drift; ring.
Qed.

(* O4, exact form: between A_s and A_t the cosine changes by the sign of (t-s)(2 tau + (2-s-t) phi). *)
Theorem O4 K S V u rho T (i j : 'I_T) s t : psd S -> 0 <= rho < 1 -> i != j ->
  (rho * gain K V u, drift K S V) != (0, - t0 K S) ->
  Num.sg (mcos (out_gram K S V u rho (mix T t)) i j - mcos (out_gram K S V u rho (mix T s)) i j)
  = Num.sg ((t - s) * (2 * tau K S V + (2 - s - t) * phi K S V)).
Proof. by move=> S0 /andP[r0 r1] ij nd; apply: sg_cos_mix. Qed.

(* O4: phi > 0 and tau >= 0: increasing on [0,1]. *)
Theorem O4_increasing K S V u rho T (i j : 'I_T) s t : psd S -> 0 <= rho < 1 -> i != j ->
  (rho * gain K V u, drift K S V) != (0, - t0 K S) ->
  0 < phi K S V -> 0 <= tau K S V -> 0 <= s -> s < t -> t <= 1 ->
  mcos (out_gram K S V u rho (mix T s)) i j < mcos (out_gram K S V u rho (mix T t)) i j.
Proof.
move=> S0 r ij nd f0 f1 s0 st t1; rewrite -subr_gt0 -sgr_gt0 O4 // sgr_gt0 mulr_gt0 ?subr_gt0 //.
apply: ltr_paddl; first by rewrite mulr_ge0 ?ler0n.
rewrite mulr_gt0 // -addrA -opprD subr_gt0.
by apply: ltr_le_add => //; apply: lt_le_trans t1.
Qed.

(* O4: phi > 0 and tau <= -phi: decreasing on [0,1]. *)
Theorem O4_decreasing K S V u rho T (i j : 'I_T) s t : psd S -> 0 <= rho < 1 -> i != j ->
  (rho * gain K V u, drift K S V) != (0, - t0 K S) ->
  0 < phi K S V -> tau K S V <= - phi K S V -> 0 <= s -> s < t -> t <= 1 ->
  mcos (out_gram K S V u rho (mix T t)) i j < mcos (out_gram K S V u rho (mix T s)) i j.
Proof.
move=> S0 r ij nd f0 f1 s0 st t1; rewrite -subr_lt0 -sgr_lt0 O4 // sgr_lt0 pmulr_rlt0 ?subr_gt0 //.
have -> : 2 * tau K S V + (2 - s - t) * phi K S V
   = 2 * (tau K S V + phi K S V) - (s + t) * phi K S V by ring.
rewrite subr_lt0; apply: (@le_lt_trans _ _ 0).
  by rewrite pmulr_rle0 ?ltr0n // addrC -subr_le0 opprK addrC in f1 *.
by rewrite mulr_gt0 //; apply: ltr_paddl => //; apply: le_lt_trans st.
Qed.

(* O4: phi > 0 and -phi < tau < 0: a strict maximum at t* = 1 + tau/phi, which lies in (0,1). *)
Theorem O4_maximum K S V u rho T (i j : 'I_T) t : psd S -> 0 <= rho < 1 -> i != j ->
  (rho * gain K V u, drift K S V) != (0, - t0 K S) ->
  0 < phi K S V -> - phi K S V < tau K S V < 0 ->
  let tstar := 1 + tau K S V / phi K S V in
  0 < tstar < 1 /\ (t != tstar ->
  mcos (out_gram K S V u rho (mix T t)) i j < mcos (out_gram K S V u rho (mix T tstar)) i j).
Proof.
move=> S0 r ij nd f0 /andP[f1 f2] tstar; split.
  have q1 : -1 < tau K S V / phi K S V by rewrite ltr_pdivl_mulr // mulN1r.
  have q2 : tau K S V / phi K S V < 0 by rewrite pmulr_llt0 ?invr_gt0.
  by rewrite /tstar -ltr_subl_addl sub0r q1 gtr_addl q2.
move=> tt; rewrite -subr_gt0 -sgr_gt0 O4 // sgr_gt0.
have -> : (tstar - t) * (2 * tau K S V + (2 - t - tstar) * phi K S V)
    = (tstar - t) ^+ 2 * phi K S V by rewrite /tstar; field; rewrite gt_eqF.
by rewrite mulr_gt0 // exprn_even_gt0 //= subr_eq0 eq_sym.
Qed.

(* O4: phi = 0 forces tau = 0, and the cosine is constant. *)
Theorem O4_constant K S V u rho T (i j : 'I_T) s t : psd S -> 0 <= rho < 1 -> i != j ->
  (rho * gain K V u, drift K S V) != (0, - t0 K S) -> phi K S V = 0 ->
  mcos (out_gram K S V u rho (mix T t)) i j = mcos (out_gram K S V u rho (mix T s)) i j.
Proof.
move=> S0 r ij nd f0; apply/eqP; rewrite -subr_eq0 -sgr_eq0 O4 // sgr_eq0 f0 mulr0 addr0.
suff -> : tau K S V = 0 by rewrite mulr0 mulr0.
apply/eqP/negP => /negP h0.
have := quadratic_ge0 K V (- (t0 K S + 1) / (2 * tau K S V)) S0; rewrite f0 mulr0 addr0.
have -> : t0 K S + 2 * (- (t0 K S + 1) / (2 * tau K S V)) * tau K S V = -1.
  by rewrite [2 * (_ / _)]mulrC -mulrA divfK ?mulf_neq0 ?pnatr_eq0 // opprD addNKr.
by rewrite oppr_ge0 ler10.
Qed.

(* O4, derivative: as a quotient of polynomials in t with positive denominator, the cosine's derivative
   (P'Q - PQ')/Q^2 has the sign of tau + (1-t) phi. *)
Theorem O4_derivative K S V u rho T (i j : 'I_T) : psd S -> 0 <= rho < 1 -> i != j ->
  (rho * gain K V u, drift K S V) != (0, - t0 K S) ->
  exists P Q : {poly R}, forall t,
    [/\ mcos (out_gram K S V u rho (mix T t)) i j = P.[t] / Q.[t], 0 < Q.[t]
      & Num.sg (P^`() * Q - P * Q^`()).[t] = Num.sg (tau K S V + (1 - t) * phi K S V)].
Proof.
move=> S0 /andP[r0 r1] ij nd.
pose W : {poly R} := (t0 K S)%:P + (2 * tau K S V) *: (1 - 'X) + phi K S V *: ((1 - 'X) * (1 - 'X)).
pose c := rho * gain K V u + (1 - rho) * (t0 K S + drift K S V) / T%:R.
pose P := c%:P - ((1 - rho) / T%:R) *: W; pose Q := P + (1 - rho) *: W.
exists P, Q => t.
have Wt : W.[t] = t0 K S + 2 * (1 - t) * tau K S V + (1 - t) ^+ 2 * phi K S V.
  rewrite /W !hornerE /=.
  ring.
have Pt : P.[t] = c - (1 - rho) * W.[t] / T%:R by rewrite /P !hornerE; ring.
have Qt : Q.[t] = P.[t] + (1 - rho) * W.[t] by rewrite /Q !hornerE.
have dW : W^`().[t] = - 2 * (tau K S V + (1 - t) * phi K S V).
  by rewrite /W !derivE !hornerE; ring.
split.
- by rewrite (mcos_mix S0) // Qt Pt Wt.
- by rewrite Qt Pt Wt; apply: (denominator_gt0 i S0 r0 r1 nd).
have -> : (P^`() * Q - P * Q^`()).[t]
    = 2 * (1 - rho) * c * (tau K S V + (1 - t) * phi K S V).
  have dP : P^`().[t] = - ((1 - rho) / T%:R * W^`().[t]).
    by rewrite /P derivB derivC sub0r derivZ hornerN hornerZ.
  have dQ : Q^`().[t] = P^`().[t] + (1 - rho) * W^`().[t].
    by rewrite /Q derivD derivZ hornerD hornerZ.
  rewrite hornerD hornerN [(P^`() * Q).[t]]hornerM [(P * _).[t]]hornerM dQ dP Qt Pt dW.
  by move: W.[t] => W_t; ring.
have c0 : 0 < c := P_gt0 i S0 r0 r1 nd.
by rewrite sgrM gtr0_sg ?mul1r // !mulr_gt0 ?subr_gt0 ?ltr0n.
Qed.

(* The cosine with the uniform pattern, and the input's, as x / (x + (1-rho) t0). *)
Local Lemma uniform_entries K S V u rho T (i j : 'I_T) :
  out_gram K S V u rho (uniform R T) i j
  = rho * gain K V u + (1 - rho) * drift K S V / T%:R + (i == j)%:R * ((1 - rho) * t0 K S).
Proof.
have -> : uniform R T = mix T 1 by rewrite /mix subrr scale1r raddf0 add0r.
by rewrite /out_gram gram_mix /drift; ring.
Qed.

Local Lemma uniform_diagonal_gt0 K S V u rho T : psd S -> 0 <= rho < 1 -> 0 < t0 K S -> (2 <= T)%N ->
  (1 - rho) * t0 K S / 2 <= rho * gain K V u + (1 - rho) * drift K S V / T%:R + (1 - rho) * t0 K S.
Proof.
move=> S0 /andP[r0 r1] t0_gt0 T2; have T0 : 0 < T%:R :> R by rewrite ltr0n ltnW.
have c0 : 0 <= 1 - rho by rewrite subr_ge0 ltW.
have -> : rho * gain K V u + (1 - rho) * drift K S V / T%:R + (1 - rho) * t0 K S
    = rho * gain K V u + (1 - rho) * (t0 K S + drift K S V) / T%:R
      + (1 - rho) * t0 K S * (1 - T%:R^-1) by ring.
rewrite -[X in X <= _]add0r ler_add ?addr_ge0 ?mulr_ge0 ?invr_ge0 ?sqnorm_ge0 ?drift_ge ?(ltW T0) //.
apply: ler_wpmul2l; first by rewrite mulr_ge0 // ltW.
rewrite ler_subr_addr -ler_subr_addl.
have -> : 1 - 2^-1 = 2^-1 :> R by apply: (@mulIf _ 2); rewrite ?pnatr_eq0 // mulrBl mulVf ?pnatr_eq0 //; ring.
by rewrite lef_pinv ?posrE ?ltr0n ?ler_nat // ltnW.
Qed.

Local Lemma fraction_sg (x y e : R) : 0 < e -> 0 < x + e -> 0 < y + e ->
  Num.sg (x / (x + e) - y / (y + e)) = Num.sg (x - y).
Proof.
move=> e0 xe ye; rewrite fraction_sub ?gt_eqF // -mulrBl -mulrA sgrM.
by rewrite [Num.sg (e / _)]gtr0_sg ?mulr1 // divr_gt0 ?mulr_gt0.
Qed.

(* O5. t0 > 0, T >= 2: uniform attention moves the cosine, from the input's, by the sign of
   rho (g - g0) + (1-rho) D/T; at g = g0 that is D's sign at every T. *)
Theorem O5 K S V u rho T (i j : 'I_T) : psd S -> 0 <= rho < 1 -> i != j -> 0 < t0 K S ->
  Num.sg (mcos (out_gram K S V u rho (uniform R T)) i j - mcos (@in_gram R d K S u rho T) i j)
  = Num.sg (rho * (gain K V u - sqnorm (K *m u)) + (1 - rho) * drift K S V / T%:R).
Proof.
move=> S0 r ij t_gt0; have [r0 r1] := andP r.
have T2 := two_tokens ij.
have c0 : 0 < (1 - rho) * t0 K S by rewrite mulr_gt0 ?subr_gt0.
have d0 := uniform_diagonal_gt0 V u S0 r t_gt0 T2.
have {}d0 := lt_le_trans (divr_gt0 c0 (ltr0n _ 2)) d0.
have y0 : 0 < rho * sqnorm (K *m u) + (1 - rho) * t0 K S by rewrite ltr_paddl ?mulr_ge0 ?sqnorm_ge0.
rewrite !mcosE ?uniform_entries ?/in_gram ?eqxx ?mul1r ?(negPf ij) ?mul0r ?mulr0 ?addr0 //.
rewrite fraction_sg //; congr Num.sg; ring.
Qed.

(* O5, many tokens: the cosine is within 2|D|/(t0 T) of its limit rho g / (rho g + (1-rho) t0) ... *)
Theorem O5_limit K S V u rho T (i j : 'I_T) : psd S -> 0 <= rho < 1 -> i != j -> 0 < t0 K S ->
  `|mcos (out_gram K S V u rho (uniform R T)) i j
    - rho * gain K V u / (rho * gain K V u + (1 - rho) * t0 K S)|
  <= 2 * `|drift K S V| / (t0 K S * T%:R).
Proof.
move=> S0 r ij t_gt0; have [r0 r1] := andP r.
have T2 := two_tokens ij.
have T0 : 0 < T%:R :> R by rewrite ltr0n ltnW.
have c1 : 0 < 1 - rho by rewrite subr_gt0.
have c0 : 0 < (1 - rho) * t0 K S by rewrite mulr_gt0.
have dh := uniform_diagonal_gt0 V u S0 r t_gt0 T2.
have d0 := lt_le_trans (divr_gt0 c0 (ltr0n _ 2)) dh.
have p0 : 0 <= rho * gain K V u by rewrite mulr_ge0 ?sqnorm_ge0.
have y0 : (1 - rho) * t0 K S <= rho * gain K V u + (1 - rho) * t0 K S by rewrite ler_addr.
rewrite mcosE ?uniform_entries ?eqxx ?mul1r ?(negPf ij) ?mul0r ?addr0 //.
set x := _ + _ / _ in dh d0 *; set e := (1 - rho) * _ in c0 dh d0 y0 *.
have y1 := lt_le_trans c0 y0.
rewrite fraction_sub ?gt_eqF // -mulrBl.
have -> : x - rho * gain K V u = (1 - rho) * drift K S V / T%:R by rewrite /x addrC addKr.
rewrite normrM normfV [`|(x + e) * _|]gtr0_norm ?mulr_gt0 // ler_pdivr_mulr ?mulr_gt0 //.
rewrite [`|_ * e|]normrM (gtr0_norm c0) !normrM normfV (gtr0_norm c1) (gtr0_norm T0).
apply: (@le_trans _ _ (2 * `|drift K S V| / (t0 K S * T%:R) * (e / 2 * e))); last first.
  apply: ler_wpmul2l; first by rewrite divr_ge0 ?mulr_ge0 ?normr_ge0 ?ler0n ?ltW.
  by apply: ler_pmul => //; [apply: divr_ge0 (ltW c0) (ler0n _ 2) | apply: ltW].
rewrite le_eqVlt; apply/orP; left; apply/eqP; rewrite /e.
move: (`|drift K S V|) => D.
by field; rewrite !gt_eqF.
Qed.

(* ... and for rho > 0 the limit exceeds the input's cosine iff g > g0. *)
Theorem O5_limit_sign K S V u rho T (i j : 'I_T) : psd S -> 0 < rho < 1 -> i != j -> 0 < t0 K S ->
  Num.sg (rho * gain K V u / (rho * gain K V u + (1 - rho) * t0 K S) - mcos (@in_gram R d K S u rho T) i j)
  = Num.sg (gain K V u - sqnorm (K *m u)).
Proof.
move=> S0 /andP[r0 r1] ij t_gt0; have c0 : 0 < (1 - rho) * t0 K S by rewrite mulr_gt0 ?subr_gt0.
have pos n (v : 'cV[R]_n) : 0 < rho * sqnorm v + (1 - rho) * t0 K S.
  by rewrite ltr_paddl ?mulr_ge0 ?sqnorm_ge0 ?ltW.
rewrite mcosE ?/in_gram ?eqxx ?mul1r ?(negPf ij) ?mul0r ?mulr0 ?addr0 //.
by rewrite fraction_sg ?pos // -mulrBr sgrM gtr0_sg ?mul1r.
Qed.

(* With equal blocks A A^T = A, so the mean off-diagonal cosine is a ratio of affine functions of 1/k. *)
Local Lemma mean_blocks K S V u rho T (L : eqType) (label : 'I_T -> L) k :
  psd S -> 0 <= rho < 1 -> (2 <= T)%N -> (rho * gain K V u, drift K S V) != (0, - t0 K S) ->
  equal_blocks label k -> (0 < k)%N /\
  mean_off_diagonal (mcos (out_gram K S V u rho (blocks R label k)))
  = (rho * gain K V u + (1 - rho) * drift K S V * (1 - k%:R^-1) / (T%:R - 1))
    / (rho * gain K V u + (1 - rho) * (t0 K S + drift K S V * k%:R^-1))
  /\ 0 < rho * gain K V u + (1 - rho) * (t0 K S + drift K S V * k%:R^-1).
Proof.
move=> S0 /andP[r0 r1] T2 nd eqk; pose i0 := Ordinal (ltnW T2).
have k0 : (0 < k)%N by rewrite -(eqk i0); apply/card_gt0P; exists i0; rewrite inE.
have kN0 : k%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
have T1 : 0 < T%:R - 1 :> R by rewrite subr_gt0 ltr1n.
have T0 : 0 < T%:R :> R by rewrite ltr0n ltnW.
pose p := rho * gain K V u; pose c := 1 - rho; pose D := drift K S V; pose x := k%:R^-1 : R.
pose e (i j : 'I_T) : R := (label i == label j)%:R.
have sum_e i : \sum_j e i j = k%:R.
  rewrite -(eqk i) -sum1_card natr_sum [in RHS]big_mkcond.
  by apply: eq_bigr => j _; rewrite /e inE; case: eqP.
have sq i j : (blocks R label k *m (blocks R label k)^T) i j = e i j * x.
  rewrite mxE (eq_bigr (fun l => e i j * x ^+ 2 * e i l)) => [|l _].
    by rewrite -mulr_sumr sum_e /x; field.
  rewrite !mxE [label j == _]eq_sym /e /x; have [il|] := eqVneq (label i); last by rewrite !(mul0r, mulr0).
  by rewrite il [label l == label j]eq_sym; ring.
have entry i j : out_gram K S V u rho (blocks R label k) i j = p + c * ((i == j)%:R * t0 K S + e i j * (D * x)).
  rewrite /out_gram /gram sq !mxE [label j == _]eq_sym -/(e i j) /D /drift -/x /p /c; ring.
have pos : 0 < p + c * (t0 K S + D * x).
  have x0 : 0 < x by rewrite invr_gt0 ltr0n.
  have -> : p + c * (t0 K S + D * x) = p + c * (t0 K S + D) * x + c * (t0 K S * (1 - x)) by ring.
  apply: ltr_paddr; last by apply: (interpolation_gt0 S0).
  apply: mulr_ge0; first by rewrite subr_ge0 ltW.
  by apply: mulr_ge0; [apply: t0_ge0 | rewrite subr_ge0 invf_le1 ?ltr0n // ler1n].
have diag i : out_gram K S V u rho (blocks R label k) i i = p + c * (t0 K S + D * x).
  by rewrite entry /e !eqxx !mul1r.
split=> //; split=> //; rewrite /mean_off_diagonal.
rewrite (eq_bigr (fun=> (p * (T%:R - 1) + c * (D * x) * (k%:R - 1)) / (p + c * (t0 K S + D * x)))) => [|i _].
  rewrite sumr_const card_ord -mulr_natl -/p -/c -/D -/x.
  move: (p + c * (t0 K S + D * x)) pos => q q0.
  rewrite /x; clearbody p c D; field.
  by rewrite kN0 !gt_eqF.
rewrite (eq_bigr (fun j => (p + c * (D * x) * e i j) / (p + c * (t0 K S + D * x)))) => [|j ji].
  rewrite -mulr_suml big_split /= -[X in _ + X]mulr_sumr; congr (_ / _).
  have := sum_e i; rewrite (bigD1 i) //= {1}/e eqxx => /(canRL (addKr _)) ->.
  by rewrite sumr_const cardC1 card_ord -subn1 -[p *+ _]mulr_natr natrB ?(ltnW T2) // [- 1 + _]addrC.
by rewrite mcosE !diag // entry eq_sym (negPf ji) mul0r add0r mulrCA mulrC -mulrA.
Qed.

(* O7. Block-uniform attention over a partition into equal blocks of size k (not necessarily of
   neighbours): the mean off-diagonal cosine increases with k when D > 0, decreases when D < 0, and is
   constant when D = 0. *)
Theorem O7 K S V u rho T (L L' : eqType) (label : 'I_T -> L) (label' : 'I_T -> L') k k' :
  psd S -> 0 <= rho < 1 -> (2 <= T)%N ->
  (rho * gain K V u, drift K S V) != (0, - t0 K S) ->
  equal_blocks label k -> equal_blocks label' k' -> (k < k')%N ->
  Num.sg (mean_off_diagonal (mcos (out_gram K S V u rho (blocks R label' k')))
          - mean_off_diagonal (mcos (out_gram K S V u rho (blocks R label k))))
  = Num.sg (drift K S V).
Proof.
move=> S0 r T2 nd b b' kk'; have [r0 r1] := andP r.
have [k0 [-> d0]] := mean_blocks S0 r T2 nd b; have [k0' [-> d0']] := mean_blocks S0 r T2 nd b'.
have T1 : 0 < T%:R - 1 :> R by rewrite subr_gt0 ltr1n.
have c0 : 0 < 1 - rho by rewrite subr_gt0.
set p := rho * _ in d0 d0' *; set D := drift _ _ _ in d0 d0' *; set t := t0 K S in d0 d0' *.
set x := k%:R^-1 in d0 *; set x' := k'%:R^-1 in d0' *.
have xx : 0 < x - x' by rewrite subr_gt0 ltf_pinv ?posrE ?ltr0n ?ltr_nat.
have q0 : 0 < p + (p + (1 - rho) * (t + D) * 1) / (T%:R - 1).
  apply: ltr_paddl; first by rewrite mulr_ge0 ?sqnorm_ge0.
  by apply: divr_gt0 => //; apply: (interpolation_gt0 S0) => //; apply: ltr01.
rewrite -mulNr addf_div ?gt_eqF // sgrM [Num.sg (_^-1)]gtr0_sg ?invr_gt0 ?mulr_gt0 // mulr1.
have -> : (p + (1 - rho) * D * (1 - x') / (T%:R - 1)) * (p + (1 - rho) * (t + D * x))
   + - (p + (1 - rho) * D * (1 - x) / (T%:R - 1)) * (p + (1 - rho) * (t + D * x'))
   = (x - x') * (1 - rho) * (p + (p + (1 - rho) * (t + D) * 1) / (T%:R - 1)) * D by ring.
by rewrite sgrM gtr0_sg ?mul1r // !mulr_gt0.
Qed.

(* Equal blocks of every size exist. *)
Lemma O7_satisfiable n k : exists label : 'I_(n * k) -> 'I_n, equal_blocks label k.
Proof.
have cE : #|{: 'I_n * 'I_k}| = (n * k)%N by rewrite card_prod !card_ord.
pose f (i : 'I_(n * k)) := enum_val (cast_ord (esym cE) i).
exists (fun i => (f i).1) => i.
have bf : bijective f.
  exists (fun p => cast_ord cE (enum_rank p)) => y; rewrite /f ?enum_valK ?cast_ordKV //.
  by rewrite cast_ordK enum_rankK.
have -> : #|[pred j | (f i).1 == (f j).1]| = #|f @^-1: setX [set (f i).1] setT|.
  by apply: eq_card => j; rewrite !inE andbT eq_sym.
by rewrite on_card_preimset ?cardsX ?cards1 ?cardsT ?card_ord ?mul1n //; apply: onW_bij.
Qed.
End Statements.

(* The hypotheses of O3, O4, O5 and O7 can be met: white noise, no norm, V = 0. *)
Lemma O3_satisfiable (R : rcfType) n : exists (K S V : 'M[R]_n.+1) (u : 'cV[R]_n.+1) (rho : R),
  [/\ psd S, 0 <= rho < 1, 0 < t0 K S & (rho * gain K V u, drift K S V) != (0, - t0 K S)].
Proof.
exists 1%:M, 1%:M, 0, 0, 0.
have t1 : 0 < t0 (1%:M : 'M[R]_n.+1) 1%:M by rewrite /t0 trmx1 !mul1mx mxtrace1 ltr0n.
have d0 : drift (1%:M : 'M[R]_n.+1) 1%:M 0 = 0.
  by rewrite /drift /tau /phi /phi2 trmx0 !(mul0mx, mulmx0) addr0 scaler0 mulmx0 linear0 mulr0 addr0.
split; rewrite ?lexx ?ltr01 //.
  move=> v; rewrite mulmx1 mxE; apply: sumr_ge0 => i _; rewrite mxE -expr2; exact: sqr_ge0.
by rewrite d0 xpair_eqE negb_and orbC eq_sym oppr_eq0 gt_eqF.
Qed.

(* White noise, no norm, V = c I: t0 = d, tau = c d, phi = c^2 d. *)
Lemma scalar_numbers (R : rcfType) n (c : R) : let I : 'M[R]_n.+1 := 1%:M in
  [/\ psd I, t0 I I = n.+1%:R, tau I I c%:M = c * n.+1%:R & phi I I c%:M = c ^+ 2 * n.+1%:R].
Proof.
move=> I; rewrite /I; split.
- by move=> v; rewrite mulmx1 mxE; apply: sumr_ge0 => i _; rewrite mxE -expr2; exact: sqr_ge0.
- by rewrite /t0 trmx1 !mul1mx mxtrace1.
- rewrite /tau trmx1 tr_scalar_mx !mul1mx mulmx1 linearZ /= linearD /= mxtrace_scalar -mulr2n.
  by rewrite -[_ *+ 2]mulr_natl mulKf ?pnatr_eq0 // mulr_natr.
by rewrite /phi /phi2 trmx1 tr_scalar_mx !mul1mx mulmx1 -scalar_mxM mxtrace_scalar mulr_natr expr2.
Qed.

Lemma scalar_nondegenerate (R : rcfType) n (c rho : R) (u : 'cV[R]_n.+1) : c != -1 ->
  (rho * gain 1%:M c%:M u, drift (1%:M : 'M[R]_n.+1) 1%:M c%:M) != (0, - t0 (1%:M : 'M[R]_n.+1) 1%:M).
Proof.
move=> c1; have [_ t f h] := scalar_numbers n c.
rewrite /drift t f h xpair_eqE negb_and orbC -subr_eq0 opprK.
have -> : 2 * (c * n.+1%:R) + c ^+ 2 * n.+1%:R + n.+1%:R = (c + 1) ^+ 2 * n.+1%:R by ring.
by rewrite mulf_neq0 // ?expf_neq0 ?pnatr_eq0 // -[1]opprK subr_eq0.
Qed.

(* Each of O4's cases and O5's limit can be met: c = 1, -1/2, -2, 0. *)
Lemma O4_increasing_satisfiable (R : rcfType) n : exists (K S V : 'M[R]_n.+1) (u : 'cV[R]_n.+1) (rho : R),
  [/\ psd S, 0 <= rho < 1, (rho * gain K V u, drift K S V) != (0, - t0 K S), 0 < phi K S V & 0 <= tau K S V].
Proof.
have [S0 _ f h] := scalar_numbers n (1 : R); exists 1%:M, 1%:M, 1%:M, 0, 0.
split; rewrite ?lexx ?ltr01 ?f ?h ?mul1r ?expr1n ?mul1r ?ltr0n ?ler0n //.
by apply: scalar_nondegenerate; rewrite -subr_eq0 opprK -(natrD _ 1 1) pnatr_eq0.
Qed.

Lemma O4_decreasing_satisfiable (R : rcfType) n : exists (K S V : 'M[R]_n.+1) (u : 'cV[R]_n.+1) (rho : R),
  [/\ psd S, 0 <= rho < 1, (rho * gain K V u, drift K S V) != (0, - t0 K S), 0 < phi K S V
    & tau K S V <= - phi K S V].
Proof.
have [S0 _ f h] := scalar_numbers n (- 2^-1 : R); exists 1%:M, 1%:M, (- 2^-1)%:M, 0, 0.
have half0 : 0 < 2^-1 :> R by rewrite invr_gt0 ltr0n.
have half1 : 2^-1 < 1 :> R by rewrite invf_lt1 ?ltr0n // ltr1n.
split; rewrite ?lexx ?ltr01 ?f ?h ?sqrrN //.
- by apply: scalar_nondegenerate; rewrite eqr_opp lt_eqF.
- by rewrite mulr_gt0 ?ltr0n // exprn_gt0.
rewrite mulNr ler_opp2; apply: ler_wpmul2r; first exact: ler0n.
by rewrite expr2 ler_pimulr ?ltW.
Qed.

Lemma O4_maximum_satisfiable (R : rcfType) n : exists (K S V : 'M[R]_n.+1) (u : 'cV[R]_n.+1) (rho : R),
  [/\ psd S, 0 <= rho < 1, (rho * gain K V u, drift K S V) != (0, - t0 K S), 0 < phi K S V
    & - phi K S V < tau K S V < 0].
Proof.
have [S0 _ f h] := scalar_numbers n (- 2 : R); exists 1%:M, 1%:M, (- 2)%:M, 0, 0.
have two0 : 0 < 2 :> R by rewrite ltr0n.
split; rewrite ?lexx ?ltr01 ?f ?h ?sqrrN //.
- by apply: scalar_nondegenerate; rewrite eqr_opp gt_eqF // ltr1n.
- by rewrite mulr_gt0 ?ltr0n // exprn_gt0.
rewrite !mulNr oppr_lt0 mulr_gt0 ?ltr0n // andbT ltr_opp2 ltr_pmul2r ?ltr0n //.
by rewrite expr2 ltr_pmulr // ltr1n.
Qed.

Lemma O4_constant_satisfiable (R : rcfType) n : exists (K S V : 'M[R]_n.+1) (u : 'cV[R]_n.+1) (rho : R),
  [/\ psd S, 0 <= rho < 1, (rho * gain K V u, drift K S V) != (0, - t0 K S) & phi K S V = 0].
Proof.
have [S0 _ f h] := scalar_numbers n (0 : R); have nd : (0 : R) != -1 by rewrite eq_sym oppr_eq0 oner_eq0.
exists 1%:M, 1%:M, 0%:M, 0, 0; split; rewrite ?lexx ?ltr01 //; last by rewrite h expr0n mul0r.
exact: scalar_nondegenerate nd.
Qed.

Lemma O5_limit_satisfiable (R : rcfType) n : exists (K S V : 'M[R]_n.+1) (u : 'cV[R]_n.+1) (rho : R),
  [/\ psd S, 0 < rho < 1 & 0 < t0 K S].
Proof.
have [S0 t _ _] := scalar_numbers n (0 : R); exists 1%:M, 1%:M, 0, 0, 2^-1.
by split; rewrite ?t ?ltr0n // invr_gt0 ltr0n invf_lt1 ?ltr0n // ltr1n.
Qed.
