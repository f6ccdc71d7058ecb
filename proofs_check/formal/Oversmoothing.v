(* O1 and O1m: the exact second moments of one attention + residual step.

   Random variables are elements of an abstract space H with a bilinear form
   B(X,Y) = E[XY]: L2 of any probability space is an instance, finitely
   supported or not.  A random vector is a family of d of them.  K stands for
   the linear part of the norm: K = I (RMSNorm), K = I - 11^T/d (LayerNorm),
   K = Gamma C with a gain; M = K^T K is then C, resp. C Gamma^2 C. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Scalars.
Variables (R : realFieldType) (d : nat).
Implicit Types (K S V : 'M[R]_d) (u : 'cV[R]_d).

(* |v|^2 *)
Definition sqnorm n (v : 'cV[R]_n) : R := (v^T *m v) 0 0.

(* t0 = tr(RC),  tau = tr(R (CV + V^T C)/2),  phi_VW = tr(R V^T C W), g = |C(I+V)u|^2. *)
Definition t0 K S := \tr (S *m (K^T *m K)).
Definition tau K S V := \tr (S *m (2^-1 *: (K^T *m K *m V + V^T *m (K^T *m K)))).
Definition phi2 K S V W := \tr (S *m (V^T *m (K^T *m K) *m W)).
Definition phi K S V := phi2 K S V V.
Definition gain K V u := sqnorm (K *m ((1%:M + V) *m u)).

(* O1's right-hand side G_ij for one head. *)
Definition gram (rho g t f h : R) T (A : 'M[R]_T) (i j : 'I_T) : R :=
  rho * g + (1 - rho) * ((i == j)%:R * t + (A i j + A j i) * f + (A *m A^T) i j * h).

(* For a symmetric idempotent K, as both norms have it, M = K. *)
Lemma gramK K : K^T = K -> K *m K = K -> K^T *m K = K.
Proof. by move=> ->. Qed.
End Scalars.

Section Model.
Variables (R : realFieldType) (d T : nat) (H : lmodType R).
Variables (B : H -> H -> R) (one : H).
Notation rvec := {ffun 'I_d -> H}.

(* The random vector V x, the constant vector u, the cross moments E[x y^T], E<x,y>. *)
Definition app (V : 'M[R]_d) (x : rvec) : rvec := [ffun k => \sum_l V k l *: x l].
Definition cst (u : 'cV[R]_d) : rvec := [ffun k => u k 0 *: one].
Definition cov (x y : rvec) : 'M[R]_d := \matrix_(k, l) B (x k) (y l).
Definition edot (x y : rvec) : R := \sum_k B (x k) (y k).

(* The noise: mean zero, pairwise uncorrelated, one covariance S; a = sqrt rho,
   b = sqrt (1 - rho), s = sqrt d, given by their squares. *)
Record noise_model (z : 'I_T -> rvec) (S : 'M[R]_d) (s a b rho : R) : Prop := NoiseModel {
  B_linear : forall c X Y Z, B (c *: X + Y) Z = c * B X Z + B Y Z;
  B_sym : forall X Y, B X Y = B Y X;
  B_one : B one one = 1;
  z_mean0 : forall i k, B one (z i k) = 0;
  z_cov : forall i j, cov (z i) (z j) = (i == j)%:R *: S;
  a_sqr : a ^+ 2 = rho;
  b_sqr : b ^+ 2 = 1 - rho;
  s_sqr : s ^+ 2 = d%:R;
  d_gt0 : (0 < d)%N }.

(* The tokens x_i = sqrt d (sqrt rho u + sqrt(1-rho) z_i), and x_i + sum_h sum_j a^h_ij V_h x_j. *)
Definition input (u : 'cV[R]_d) (z : 'I_T -> rvec) (s a b : R) i : rvec :=
  s *: (a *: cst u + b *: z i).
Definition output m (A : 'I_m -> 'M[R]_T) (V : 'I_m -> 'M[R]_d) (x : 'I_T -> rvec) i : rvec :=
  x i + \sum_h \sum_j A h i j *: app (V h) (x j).
End Model.

Section Moments.
Variables (R : realFieldType) (d T m : nat) (H : lmodType R).
Variables (B : H -> H -> R) (one : H).
Notation rvec := {ffun 'I_d -> H}.
Implicit Types (x y : rvec) (K V W : 'M[R]_d) (u v : 'cV[R]_d).
Variables (u : 'cV[R]_d) (z : 'I_T -> rvec) (S : 'M[R]_d) (s a b rho : R).
Hypothesis model : noise_model B one z S s a b rho.
Variables (A : 'I_m -> 'M[R]_T) (V : 'I_m -> 'M[R]_d).
Hypothesis A_rows : forall h i, \sum_j A h i j = 1.
Local Notation app := (@app R d H).
Local Notation cov := (@cov R d H B).
Local Notation cst := (@cst R d H one).
Local Notation input := (input one u z s a b).
Local Notation output := (output A V input).

Let B_linear := B_linear model.
Let B_sym := B_sym model.
Let B_one := B_one model.
Let z_mean0 := z_mean0 model.
Let z_cov := z_cov model.
Local Lemma B0l Z : B 0 Z = 0.
Proof. by have := B_linear (-1) 0 0 Z; rewrite scaler0 addr0 mulN1r addNr. Qed.
Local Lemma BDl X Y Z : B (X + Y) Z = B X Z + B Y Z.
Proof. by have := B_linear 1 X Y Z; rewrite scale1r mul1r. Qed.
Local Lemma BZl c X Z : B (c *: X) Z = c * B X Z.
Proof. by have := B_linear c X 0 Z; rewrite addr0 B0l addr0. Qed.
Local Lemma Bsuml I r (P : pred I) (F : I -> H) Z :
  B (\sum_(i <- r | P i) F i) Z = \sum_(i <- r | P i) B (F i) Z.
Proof. exact: (big_morph (B^~ Z) (fun X Y => BDl X Y Z) (B0l Z)). Qed.

Local Lemma covT x y : (cov x y)^T = cov y x.
Proof. by apply/matrixP => k l; rewrite !mxE B_sym. Qed.
Local Lemma covDl x y w : cov (x + y) w = cov x w + cov y w.
Proof. by apply/matrixP => k l; rewrite !mxE ffunE BDl. Qed.
Local Lemma covZl c x w : cov (c *: x) w = c *: cov x w.
Proof. by apply/matrixP => k l; rewrite !mxE ffunE BZl. Qed.
Local Lemma cov0l w : cov 0 w = 0.
Proof. by apply/matrixP => k l; rewrite !mxE ffunE B0l. Qed.
Local Lemma covDr x y w : cov w (x + y) = cov w x + cov w y.
Proof. by rewrite -covT covDl linearD /= !covT. Qed.
Local Lemma covZr c x w : cov w (c *: x) = c *: cov w x.
Proof. by rewrite -covT covZl linearZ /= covT. Qed.
Local Lemma cov0r w : cov w 0 = 0.
Proof. by rewrite -covT cov0l trmx0. Qed.
Local Lemma cov_suml I r (P : pred I) (F : I -> rvec) w :
  cov (\sum_(i <- r | P i) F i) w = \sum_(i <- r | P i) cov (F i) w.
Proof. exact: (big_morph (cov^~ w) (fun x y => covDl x y w) (cov0l w)). Qed.
Local Lemma cov_sumr I r (P : pred I) (F : I -> rvec) w :
  cov w (\sum_(i <- r | P i) F i) = \sum_(i <- r | P i) cov w (F i).
Proof. exact: (big_morph (cov w) (fun x y => covDr x y w) (cov0r w)). Qed.
Local Lemma cov_appl W x y : cov (app W x) y = W *m cov x y.
Proof.
apply/matrixP => k l; rewrite !mxE ffunE Bsuml.
by apply: eq_bigr => e _; rewrite mxE BZl.
Qed.
Local Lemma cov_appr W x y : cov x (app W y) = cov x y *m W^T.
Proof. by rewrite -covT cov_appl trmx_mul covT. Qed.
Local Lemma cov_cst v w : cov (cst v) (cst w) = v *m w^T.
Proof.
apply/matrixP => k l; rewrite !mxE !ffunE big_ord1 mxE BZl B_sym BZl B_one.
by rewrite mulr1.
Qed.
Local Lemma cov_cst_z v i : cov (cst v) (z i) = 0.
Proof. by apply/matrixP => k l; rewrite !mxE !ffunE BZl z_mean0 mulr0. Qed.
Local Lemma cov_z_cst v i : cov (z i) (cst v) = 0.
Proof. by rewrite -covT cov_cst_z trmx0. Qed.

Local Lemma appD W x y : app W (x + y) = app W x + app W y.
Proof.
apply/ffunP => k; rewrite !ffunE -big_split /=.
by apply: eq_bigr => l _; rewrite ffunE scalerDr.
Qed.
Local Lemma appZ W c x : app W (c *: x) = c *: app W x.
Proof.
apply/ffunP => k; rewrite !ffunE scaler_sumr.
by apply: eq_bigr => l _; rewrite ffunE !scalerA mulrC.
Qed.
Local Lemma appDl W W' x : app (W + W') x = app W x + app W' x.
Proof.
apply/ffunP => k; rewrite !ffunE -big_split /=.
by apply: eq_bigr => l _; rewrite mxE scalerDl.
Qed.
Local Lemma appZl c W x : app (c *: W) x = c *: app W x.
Proof.
apply/ffunP => k; rewrite !ffunE scaler_sumr.
by apply: eq_bigr => l _; rewrite mxE scalerA.
Qed.
Local Lemma app0l x : app 0 x = 0.
Proof. by apply/ffunP => k; rewrite !ffunE big1 // => l _; rewrite mxE scale0r. Qed.
Local Lemma app_suml I r (P : pred I) (F : I -> 'M[R]_d) x :
  app (\sum_(i <- r | P i) F i) x = \sum_(i <- r | P i) app (F i) x.
Proof. exact: (big_morph (app^~ x) (fun V W => appDl V W x) (app0l x)). Qed.
Local Lemma app1 x : app 1%:M x = x.
Proof.
apply/ffunP => k; rewrite ffunE (bigD1 k) //= mxE eqxx scale1r big1 ?addr0 //.
by move=> l /negPf lk; rewrite mxE eq_sym lk scale0r.
Qed.
Local Lemma app_cst W v : app W (cst v) = cst (W *m v).
Proof.
apply/ffunP => k; rewrite !ffunE mxE scaler_suml.
by apply: eq_bigr => l _; rewrite ffunE scalerA.
Qed.

Let w := (1%:M + \sum_h V h) *m u.
Let N i j : 'M[R]_d := (i == j)%:R *: 1%:M + \sum_h A h i j *: V h.

Local Lemma outputE i : output i = s *: (a *: cst w + b *: \sum_j app (N i j) (z j)).
Proof.
have -> : output i = s *: (a *: cst u + a *: app (\sum_h V h) (cst u)
    + (b *: z i + b *: \sum_j app (\sum_h A h i j *: V h) (z j))).
  rewrite addrACA scalerDr; congr (_ + _).
  rewrite app_suml scaler_sumr (eq_bigr (fun j => \sum_h A h i j *: app (V h) (z j))); last first.
    by move=> j _; rewrite app_suml; apply: eq_bigr => h _; rewrite appZl.
  rewrite [in RHS]exchange_big [in X in _ + X]scaler_sumr -big_split /= scaler_sumr.
  apply: eq_bigr => h _.
  under eq_bigr => j _ do rewrite appZ appD !appZ scalerA mulrC -scalerA scalerDr.
  rewrite -scaler_sumr big_split /=; congr (s *: (_ + _)).
    by rewrite -scaler_suml A_rows scale1r.
  by rewrite scaler_sumr; apply: eq_bigr => j _; rewrite !scalerA mulrC.
congr (s *: _); rewrite -!scalerDr; congr (a *: _ + b *: _).
  rewrite app_cst; apply/ffunP => k; rewrite !ffunE /w mulmxDl mul1mx.
  by rewrite [in RHS]mxE scalerDl.
rewrite /N; under [RHS]eq_bigr => j _ do rewrite appDl appZl app1.
rewrite big_split /=; congr (_ + _).
rewrite (bigD1 i) //= eqxx scale1r big1 ?addr0 //.
by move=> j /negPf ji; rewrite eq_sym ji scale0r.
Qed.

Local Lemma cov_output i j : cov (output i) (output j)
  = d%:R *: (rho *: (w *m w^T) + (1 - rho) *: \sum_k N i k *m S *m (N j k)^T).
Proof.
rewrite !outputE covZl covZr scalerA -expr2 (s_sqr model); congr (_ *: _).
set q := \sum_k app (N i k) (z k); set r := \sum_k app (N j k) (z k).
have wr : cov (cst w) r = 0.
  by rewrite cov_sumr big1 // => k _; rewrite cov_appr cov_cst_z mul0mx.
have qw : cov q (cst w) = 0.
  by rewrite cov_suml big1 // => k _; rewrite cov_appl cov_z_cst mulmx0.
rewrite covDl !covDr !covZl !covZr cov_cst wr qw !scaler0 addr0 add0r !scalerA -!expr2 (a_sqr model) (b_sqr model).
congr (_ *: _ + _ *: _); rewrite cov_suml; apply: eq_bigr => k _.
rewrite cov_sumr (bigD1 k) //= cov_appl cov_appr z_cov eqxx scale1r mulmxA.
rewrite big1 ?addr0 // => l /negPf lk.
by rewrite cov_appl cov_appr z_cov eq_sym lk scale0r mul0mx mulmx0.
Qed.

Local Lemma ST : (0 < T)%N -> S^T = S.
Proof. by move=> T0; have := z_cov (Ordinal T0) (Ordinal T0); rewrite eqxx scale1r => <-; rewrite covT. Qed.

(* O1m (heads). E<K y_i, K y_j>/d = rho g + (1-rho) [ delta_ij t0
     + sum_h (a^h_ij + a^h_ji) tau_h + sum_{h,h'} (A_h A_h'^T)_ij phi_hh' ],
   with g = |K(I + sum_h V_h)u|^2, for all patterns with row sums 1. *)
Theorem O1m K i j :
  edot B (app K (output i)) (app K (output j)) / d%:R
  = rho * gain K (\sum_h V h) u
    + (1 - rho) * ((i == j)%:R * t0 K S
        + \sum_h (A h i j + A h j i) * tau K S (V h)
        + \sum_h \sum_h' (A h *m (A h')^T) i j * phi2 K S (V h) (V h')).
Proof.
have dN0 : d%:R != 0 :> R by rewrite pnatr_eq0 -lt0n (d_gt0 model).
have ST' : S^T = S by apply: ST; apply: leq_ltn_trans (ltn_ord i).
have -> : edot B (app K (output i)) (app K (output j))
    = \tr (K *m cov (output i) (output j) *m K^T).
  by rewrite -cov_appl -cov_appr; apply: eq_bigr => k _; rewrite mxE.
pose F X Y := \tr (K *m (X *m S *m Y^T) *m K^T).
have FDl X Y Z : F (X + Y) Z = F X Z + F Y Z.
  by rewrite /F !mulmxDl mulmxDr mulmxDl linearD.
have FZl c X Z : F (c *: X) Z = c * F X Z.
  by rewrite /F -!scalemxAl -scalemxAr -scalemxAl linearZ.
have FC X Y : F X Y = F Y X.
  by rewrite /F -mxtrace_tr !trmx_mul ST' !trmxK !mulmxA.
have F0l Z : F 0 Z = 0 by rewrite /F !mul0mx mulmx0 mul0mx linear0.
have Fsuml (G : 'I_m -> 'M_d) Z : F (\sum_h G h) Z = \sum_h F (G h) Z.
  exact: (big_morph (F^~ Z) (fun X Y => FDl X Y Z) (F0l Z)).
have F11 : F 1%:M 1%:M = t0 K S.
  by rewrite /F /t0 mul1mx trmx1 mulmx1 -mulmxA mxtrace_mulC mulmxA.
have Fphi X Y : F X Y = phi2 K S X Y.
  rewrite FC /F /phi2 -mulmxA mxtrace_mulC -!mulmxA mxtrace_mulC -!mulmxA.
  by rewrite mxtrace_mulC -!mulmxA.
have Ftau X : F X 1%:M = tau K S X.
  have e : \tr (S *m (K^T *m K *m X)) = \tr (S *m (X^T *m (K^T *m K))).
    by rewrite -mxtrace_tr !trmx_mul ST' trmxK mxtrace_mulC !mulmxA.
  rewrite /tau -scalemxAr linearZ /= mulmxDr linearD /= e -mulr2n -[_ *+ 2]mulr_natl.
  by rewrite mulKf ?pnatr_eq0 // Fphi /phi2 mulmx1.
rewrite cov_output -scalemxAr -scalemxAl linearZ /= mulrAC divff // mul1r.
rewrite mulmxDr mulmxDl linearD /= -!scalemxAr -!scalemxAl !linearZ /=.
congr (_ * _ + _ * _).
  by rewrite /gain /sqnorm -trace_mx11 [RHS]mxtrace_mulC !trmx_mul !mulmxA.
rewrite mulmx_sumr mulmx_suml linear_sum /=.
have FN k : \tr (K *m (N i k *m S *m (N j k)^T) *m K^T)
    = (i == k)%:R * (j == k)%:R * t0 K S
      + ((i == k)%:R * (\sum_h A h j k * tau K S (V h))
         + (j == k)%:R * (\sum_h A h i k * tau K S (V h)))
      + \sum_h \sum_h' A h i k * A h' j k * phi2 K S (V h) (V h').
  have lin e : F (\sum_h A h e k *: V h) 1%:M = \sum_h A h e k * tau K S (V h).
    by rewrite Fsuml; apply: eq_bigr => h' _; rewrite FZl Ftau.
  rewrite -/(F _ _) /N FDl FZl FC FDl FZl F11 [F _ (_ + _)]FC FDl FZl.
  rewrite (FC 1%:M) !lin mulrDr mulrA -!addrA; congr (_ + (_ + (_ + _))).
  rewrite FC Fsuml; apply: eq_bigr => h _; rewrite FZl FC Fsuml mulr_sumr.
  by apply: eq_bigr => h' _; rewrite FZl FC Fphi mulrA.
rewrite (eq_bigr _ (fun k _ => FN k)) !big_split /=.
have pick (f : 'I_T -> R) e : \sum_k (e == k)%:R * f k = f e.
  rewrite (bigD1 e) //= eqxx mul1r big1 ?addr0 // => k /negPf ke.
  by rewrite eq_sym ke mul0r.
congr (_ + _ + _).
- by under eq_bigr => k _ do rewrite -mulrA; rewrite pick [j == i]eq_sym.
- rewrite !pick addrC -big_split /=; apply: eq_bigr => h _.
  by rewrite mulrDl.
- rewrite exchange_big /=; apply: eq_bigr => h _.
  rewrite exchange_big /=; apply: eq_bigr => h' _.
  by rewrite -mulr_suml mxE; congr (_ * _); apply: eq_bigr => k _; rewrite mxE.
Qed.
End Moments.

Section OneHead.
Variables (R : realFieldType) (d T : nat) (H : lmodType R) (B : H -> H -> R) (one : H).
Variables (u : 'cV[R]_d) (z : 'I_T -> {ffun 'I_d -> H}) (S : 'M[R]_d) (s a b rho : R).
Local Notation x := (input one u z s a b).

(* O1. For every A with row sums 1 (causal, banded, sink; signs free) the second moments before
   normalising are E<K y_i, K y_j>/d
     = rho g + (1-rho) [ delta_ij t0 + (a_ij + a_ji) tau + (A A^T)_ij phi ],
   where y_i = x_i + sum_j a_ij V x_j.  (|u| = 1, tr S = 1 and rho < 1 are not needed.) *)
Theorem O1 (K V : 'M[R]_d) (A : 'M[R]_T) i j :
  noise_model B one z S s a b rho -> (forall i, \sum_j A i j = 1) ->
  let y i := x i + \sum_j A i j *: app V (x j) in
  edot B (app K (y i)) (app K (y j)) / d%:R
  = gram rho (gain K V u) (t0 K S) (tau K S V) (phi K S V) A i j.
Proof.
move=> model rows y.
have := @O1m _ _ _ 1 _ _ _ u _ _ _ _ _ _ model (fun=> A) (fun=> V) (fun=> rows) K i j.
by rewrite /output !big_ord1.
Qed.

(* The input itself: E<K x_i, K x_j>/d = rho |Ku|^2 + (1-rho) delta_ij t0 (no head). *)
Theorem O1_input (K : 'M[R]_d) i j : noise_model B one z S s a b rho ->
  edot B (app K (x i)) (app K (x j)) / d%:R
  = rho * sqnorm (K *m u) + (1 - rho) * ((i == j)%:R * t0 K S).
Proof.
move=> model; have rows (h : 'I_0) k : \sum_j (1%:M : 'M[R]_T) k j = 1 by case: h.
have := @O1m _ _ _ 0 _ _ _ u _ _ _ _ _ _ model (fun=> 1%:M) (fun=> 0) rows K i j.
by rewrite /output /gain !big_ord0 !addr0 mul1mx.
Qed.
End OneHead.

(* The model exists for every T, every d > 0 and every rho with square roots: noise along e_0,
   with T + 1 orthonormal elements of H = R^(T+1) as the constant and the T coordinates. *)
Lemma O1_satisfiable (R : realFieldType) (d T : nat) (s a b rho : R) :
  a ^+ 2 = rho -> b ^+ 2 = 1 - rho -> s ^+ 2 = d.+1%:R ->
  noise_model (fun X Y : 'rV[R]_T.+1 => (X *m Y^T) 0 0) (delta_mx 0 0)
    (fun i => [ffun k : 'I_d.+1 => (k == 0)%:R *: delta_mx 0 (lift 0 i)])
    (delta_mx 0 0) s a b rho
  /\ \tr (delta_mx 0 0 : 'M[R]_d.+1) = 1.
Proof.
move=> a2 b2 s2; have dd (p q : 'I_T.+1) :
    (delta_mx 0 p *m (delta_mx 0 q : 'rV[R]_T.+1)^T : 'M_1) 0 0 = (p == q)%:R.
  by rewrite trmx_delta mul_delta_mx_cond mulmxnE mxE !eqxx.
split; last by rewrite /mxtrace (bigD1 0) //= big1 ?mxE ?addr0 // => i /negPf i0; rewrite mxE i0.
split=> //.
- by move=> c X Y Z; rewrite mulmxDl -scalemxAl !mxE.
- by move=> X Y; rewrite -[in LHS](trmxK X) -trmx_mul mxE.
- by rewrite dd eqxx.
- by move=> i k; rewrite ffunE linearZ /= -scalemxAr mxE dd mulr0.
- move=> i j; apply/matrixP => k l; rewrite [LHS]mxE !ffunE linearZ /= -scalemxAl -scalemxAr.
  rewrite [LHS]mxE [X in _ * X]mxE dd (inj_eq lift_inj) !mxE.
  by case: (i == j); case: (k == 0); case: (l == 0); rewrite ?(mulr0, mul0r, mulr1).
Qed.
