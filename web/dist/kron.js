// node_modules/preact/dist/preact.mjs
var n, t, r, u, i, f, o, e, l, c, a, s, h = /* @__PURE__ */ Symbol.for("pv"), p = {}, y = [], v = /^m(i|n|o|s|text|space)$/, w = Array.isArray, d = y.slice, _ = Object.assign;
function g(n3) {
  n3 && n3.parentNode && n3.remove();
}
function k(n3, t4, r4) {
  var u4, i4, f4, o4 = {}, e4 = arguments.length;
  for (f4 in t4) f4 == "key" ? u4 = t4[f4] : f4 == "ref" && typeof n3 != "function" ? i4 = t4[f4] : o4[f4] = t4[f4];
  return e4 > 2 && (o4.children = e4 > 3 ? d.call(arguments, 2) : r4), m(n3, o4, u4, i4, null);
}
function m(r4, u4, i4, f4, o4) {
  var e4 = { type: r4, props: u4, key: i4, ref: f4, __k: null, __: null, __b: 0, __e: null, __c: null, constructor: h, __v: o4 || ++t, __i: -1, __u: 0 };
  return !o4 && n.vnode && n.vnode(e4), e4;
}
function $(n3) {
  return n3.children;
}
function x(n3, t4) {
  this.props = n3, this.context = t4, this.__g = 0;
}
function S(n3, t4) {
  if (t4 == null) return n3.__ && S(n3.__, n3.__i + 1);
  for (var r4; t4 < n3.__k.length; t4++) if ((r4 = n3.__k[t4]) && r4.__e) return r4.__e;
  return typeof n3.type != "function" || n3.props.__P ? null : S(n3);
}
function C(t4) {
  var r4, u4 = t4.__v, i4 = u4.__e, f4 = [], o4 = [], e4 = t4.__P;
  e4 && ((r4 = _({ constructor: h }, u4)).__v = u4.__v + 1, n.vnode && n.vnode(r4), z(e4, r4, u4, t4.__n, e4.namespaceURI, 32 & u4.__u ? [i4] : null, f4, i4 || S(u4), 32 & u4.__u, o4), r4.__v = u4.__v, r4.__.__k[r4.__i] = r4, E(f4, r4, o4), u4.__ = u4.__e = null, r4.__e != i4 && j(r4));
}
function j(n3) {
  if ((n3 = n3.__) && n3.__c && !n3.props.__P) return n3.__e = null, n3.__k.some(function(t4) {
    return t4 && (n3.__e = t4.__e);
  }), j(n3);
}
function L(t4) {
  (8 & t4.__g || (t4.__g |= 8, u.push(t4), f++)) && i == n.debounceRendering || ((i = n.debounceRendering) || queueMicrotask)(H);
}
function H() {
  try {
    for (var n3, t4 = 1; u.length; ) u.length > t4 && u.sort(o), n3 = u.shift(), t4 = u.length, 8 & n3.__g && C(n3);
  } finally {
    (f = u.length) && (i || queueMicrotask)(H);
  }
}
function I(n3, t4, r4, u4, i4, f4, o4, e4, l4, c4, a4) {
  var s4, h5, v4, w5, d5, _4, g5 = u4.__k || y, k4 = t4.length;
  for (l4 = q(r4, t4, g5, l4, k4), s4 = 0; s4 < k4; s4++) (v4 = r4.__k[s4]) != null && (h5 = ~v4.__i && g5[v4.__i] || p, v4.__i = s4, _4 = z(n3, v4, h5, i4, f4, o4, e4, l4, c4, a4), w5 = v4.__e, (h5.ref != v4.ref || 8 & h5.__u) && (h5.ref && G(h5.ref, null, v4, h5), v4.ref && a4.push(v4.ref, v4.__c || w5, v4)), d5 = d5 || w5, 4 & v4.__u ? (l4 = A(v4, l4, n3, !h5.__v), h5.__e && (h5.__e = null)) : typeof v4.type == "function" && _4 !== void 0 ? l4 = _4 : w5 && (l4 = w5.nextSibling), v4.__u &= -21);
  return r4.__e = d5, l4;
}
function q(n3, t4, r4, u4, i4) {
  var f4, o4, e4, l4, c4, a4, s4, p5, y5, v4 = r4.length, d5 = v4, _4 = 0, g5 = 0, k4 = n3.__k = Array(i4);
  for (f4 = 0; f4 < i4; f4++) (o4 = t4[f4]) != null && typeof o4 != "boolean" && typeof o4 != "function" ? (typeof o4 != "object" || o4.constructor === String ? o4 = k4[f4] = m(null, o4) : w(o4) ? o4 = k4[f4] = m($, { children: o4 }) : o4.constructor === h && o4.__b ? o4 = k4[f4] = m(o4.type, o4.props, o4.key, o4.ref, o4.__v) : k4[f4] = o4, l4 = f4 + _4, o4.__ = n3, o4.__b = n3.__b + 1, e4 = null, ~(c4 = o4.__i = P(o4, r4, l4, d5)) && (d5--, (e4 = r4[c4]) && (e4.__u |= 2)), e4 && e4.__v ? (o4.__u |= 16, c4 == l4 - 1 ? _4-- : c4 == l4 + 1 ? _4++ : c4 != l4 && (c4 > l4 ? _4-- : _4++, g5 = 1)) : (~c4 || (i4 > v4 ? _4-- : i4 < v4 && _4++), typeof o4.type != "function" && (o4.__u |= 4))) : k4[f4] = null;
  if (g5) {
    for (a4 = [], s4 = [], f4 = 0; f4 < i4; f4++) if ((o4 = k4[f4]) && 16 & o4.__u) {
      for (_4 = 0, p5 = a4.length; _4 < p5; ) a4[y5 = _4 + p5 >> 1] < o4.__i ? _4 = y5 + 1 : p5 = y5;
      a4[_4] = o4.__i, s4[f4] = _4 + 1;
    }
    for (_4 = a4.length; f4--; ) s4[f4] && (s4[f4] == _4 ? _4-- : k4[f4].__u |= 4);
  }
  if (d5) for (f4 = 0; f4 < v4; f4++) !(e4 = r4[f4]) || 2 & e4.__u || (e4.__e == u4 && (u4 = S(e4)), J(e4, e4));
  return u4;
}
function A(n3, t4, r4, u4) {
  var i4, f4, o4, e4;
  if (typeof n3.type == "function") {
    if (n3.props.__P) return t4;
    if (i4 = n3.__k) for (f4 = 0; f4 < i4.length; f4++) i4[f4] && (i4[f4].__ = n3, t4 = A(i4[f4], t4, r4, !1));
    return t4;
  }
  for (t4 && !t4.parentNode && (t4 = S(n3)) && !t4.parentNode && (t4 = null), o4 = n3.__e, e4 = t4; e4 && e4.nodeType == 8; ) e4 = e4.nextSibling;
  for (o4 != e4 && (!u4 && r4.moveBefore && o4.parentNode ? r4.moveBefore(o4, t4) : r4.insertBefore(o4, t4 || null)), t4 = o4; (t4 = t4 && t4.nextSibling) && t4.nodeType == 8 && !t4.data.startsWith("$s"); ) ;
  return t4;
}
function P(n3, t4, r4, u4) {
  var i4, f4 = n3.key, o4 = n3.type, e4 = t4[r4], l4 = e4 && !(2 & e4.__u);
  if (e4 === null && f4 == null || l4 && f4 == e4.key && o4 == e4.type) return r4;
  if (u4 > (l4 ? 1 : 0)) {
    for (i4 = r4 - 1; i4 >= 0; i4--) if ((e4 = t4[i4]) && !(2 & e4.__u) && f4 == e4.key && o4 == e4.type) return i4;
    for (i4 = r4 + 1; i4 < t4.length; i4++) if ((e4 = t4[i4]) && !(2 & e4.__u) && f4 == e4.key && o4 == e4.type) return i4;
  }
  return -1;
}
function T(n3, t4, r4) {
  r4 == null && (r4 = ""), t4[0] == "-" ? n3.setProperty(t4, r4) : n3[t4] = r4;
}
function N(n3, t4, r4, u4, i4) {
  var f4, o4;
  if (t4 == "style") if (typeof r4 == "string") n3.style.cssText = r4;
  else {
    if (typeof u4 == "string" && (n3.style.cssText = u4 = ""), u4) for (t4 in u4) r4 && t4 in r4 || T(n3.style, t4);
    if (r4) for (t4 in r4) u4 && r4[t4] == u4[t4] || T(n3.style, t4, r4[t4]);
  }
  else if (t4[0] == "o" && t4[1] == "n") typeof r4 != "function" && (r4 = null), typeof u4 != "function" && (u4 = null), (n3.__e || (n3.__e = {}))[t4] = r4, r4 && u4 || (o4 = a[t4] || (a[t4] = V(t4)), (n3.__a || (n3.__a = {}))[t4] = c, f4 = t4 != (t4 = t4.replace(l, "$1")), (t4 = t4.slice(2))[0] < "a" && (t4 = t4.toLowerCase()), r4 ? n3.addEventListener(t4, o4, f4) : n3.removeEventListener(t4, o4, f4));
  else {
    if (i4 == "http://www.w3.org/2000/svg") t4 = t4.replace(/xlink(H|:h)/, "h").replace(/sName$/, "s");
    else if (t4 != "width" && t4 != "height" && t4 != "href" && t4 != "list" && t4 != "form" && t4 != "tabIndex" && t4 != "download" && t4 != "rowSpan" && t4 != "colSpan" && t4 != "role" && t4 != "popover" && t4 in n3) try {
      return void (n3[t4] = r4 ?? "");
    } catch {
    }
    if (typeof r4 == "function") return;
    r4 == null || r4 === !1 && t4[4] != "-" ? n3.removeAttribute(t4) : n3.setAttribute(t4, t4 == "popover" && r4 == 1 ? "" : r4);
  }
}
function V(t4) {
  return function(r4) {
    var u4 = this.__e;
    if (u4) {
      if (u4 = u4[t4], r4[e] == null) r4[e] = c++;
      else if (r4[e] < this.__a[t4]) return;
      return u4(n.event ? n.event(r4) : r4);
    }
  };
}
function z(t4, r4, u4, i4, f4, o4, e4, l4, c4, a4) {
  var s4, p5, v4, d5, k4, b4, m5, M2, C3, j3, L2, H2, q2, A4, O2, P2, T4, N2, V2 = r4.type;
  if (r4.constructor !== h) return null;
  128 & u4.__u && (c4 = 32 & u4.__u, s4 = u4.__c.__z) && (r4.__u |= c4, p5 = o4 = [], s4.nodeType == 8 ? l4 = B(s4, o4) : o4.push(s4), l4 = o4[0] || l4), (s4 = n.__b) && s4(r4);
  n: if (typeof V2 == "function") {
    v4 = e4.length;
    try {
      if (M2 = r4.props, C3 = (s4 = V2.prototype) && s4.render, j3 = (s4 = V2.contextType) && i4[s4.__c], L2 = s4 ? j3 ? j3.props.value : s4.__ : i4, (d5 = u4.__c) ? (r4.__c = d5, 2 & d5.__g && (d5.__g |= 1)) : (C3 ? r4.__c = d5 = new V2(M2, L2) : (r4.__c = d5 = new x(M2, L2), d5.constructor = V2, d5.render = K), j3 && j3.sub(d5), d5.state || (d5.state = {}), d5.__n = i4, d5.__g |= 8, d5.__h = [], d5.__k = []), C3 && (d5.__s || (d5.__s = d5.state), V2.getDerivedStateFromProps && (d5.__s == d5.state && (d5.__s = _({}, d5.__s)), _(d5.__s, V2.getDerivedStateFromProps(M2, d5.__s)))), k4 = d5.props, b4 = d5.state, d5.__v = r4, u4.__c) {
        if (M2 !== k4 && C3 && !V2.getDerivedStateFromProps && d5.componentWillReceiveProps && d5.componentWillReceiveProps(M2, L2), r4.__v == u4.__v && !(8 & d5.__g) || !(4 & d5.__g) && d5.shouldComponentUpdate && d5.shouldComponentUpdate(M2, d5.__s, L2) === !1) {
          r4.__v != u4.__v && (d5.props = M2, d5.state = d5.__s, d5.__g &= -9), r4.__e = u4.__e, r4.__k = u4.__k, r4.__k.some(function(n3) {
            n3 && (n3.__ = r4);
          }), y.push.apply(d5.__h, d5.__k), d5.__k = [], d5.__h.length && e4.push(d5), l4 = S(u4);
          break n;
        }
        d5.componentWillUpdate && d5.componentWillUpdate(M2, d5.__s, L2), C3 && d5.componentDidUpdate && d5.__h.push(function() {
          d5.componentDidUpdate(k4, b4, m5);
        });
      } else C3 && !V2.getDerivedStateFromProps && d5.componentWillMount && d5.componentWillMount(), C3 && d5.componentDidMount && d5.__h.push(d5.componentDidMount);
      d5.context = L2, d5.props = M2, d5.__P = t4, d5.__g &= -5, H2 = n.__r, q2 = C3 ? 25 : 0;
      do
        d5.__g &= -9, H2 && H2(r4), s4 = d5.render(d5.props, d5.state = d5.__s, d5.context);
      while (8 & d5.__g && ++q2 < 25);
      C3 && (y.push.apply(d5.__h, d5.__k), d5.__k = []), d5.state = d5.__s, d5.getChildContext && (i4 = _({}, i4, d5.getChildContext())), C3 && u4.__c && d5.getSnapshotBeforeUpdate && (m5 = d5.getSnapshotBeforeUpdate(k4, b4)), A4 = s4 && s4.type === $ && s4.key == null ? s4.props.children : s4, M2.__P && (s4 = l4, f4 = (t4 = M2.__P).namespaceURI, c4 = o4 = null, u4.props && u4.props.__P != t4 && (u4.__k.some(function(n3) {
        n3 && J(n3, n3);
      }), u4.__k = null), l4 = u4.__k ? S(u4, 0) : null), l4 = I(t4, w(A4) ? A4 : [A4], r4, u4, i4, f4, o4, e4, l4, c4, a4), M2.__P && (r4.__e = null, l4 = s4), r4.__u &= -161, p5 && p5.some(g), d5.__h.length && e4.push(d5), 1 & d5.__g && (d5.__g &= -4);
    } catch (t5) {
      if (e4.length = v4, r4.__v = null, c4 || o4) if (t5 && t5.then) {
        if (r4.__u |= 128 | c4, o4) {
          for (~(T4 = o4.indexOf(l4 || void 0)) || (T4 = o4.length); (N2 = o4[T4 - 1]) && N2.nodeType == 8; ) T4--;
          for (; T4 < o4.length; T4++) if (N2 = o4[T4]) if (o4[T4] = null, O2) {
            if (N2 == P2) break;
          } else {
            if (N2.nodeType != 8) break;
            N2.data.startsWith("$s") && (P2 = B(O2 = N2));
          }
        }
        if (!O2) {
          for (; l4 && l4.nodeType == 8 && l4.nextSibling; ) l4 = l4.nextSibling;
          O2 = l4;
        }
        (s4 = B(O2 = r4.__c.__z || (r4.__c.__z = O2))) ? (r4.__e = O2, l4 = s4) : r4.__e = l4, l4 = l4 && l4.nextSibling;
      } else o4 && o4.some(g);
      else r4.__e = u4.__e;
      r4.__k || (r4.__k = u4.__k || []), t5 && t5.then || D(r4), n.__e(t5, r4, u4);
    }
  } else l4 = r4.__e = F(u4.__e, r4, u4, i4, f4, o4, e4, c4, a4, t4);
  return (s4 = n.diffed) && s4(r4), l4;
}
function B(n3, t4) {
  if (n3 && n3.nodeType == 8 && n3.data.startsWith("$s")) for (var r4 = 1; n3 = n3.nextSibling; ) {
    if (n3.nodeType == 8) {
      if (n3.data.startsWith("$s")) r4++;
      else if (n3.data.startsWith("/$s") && !--r4) return n3;
    }
    t4 && t4.push(n3);
  }
}
function D(n3) {
  n3 && (n3.__c && (n3.__c.__g |= 4), n3.__k && n3.__k.some(D));
}
function E(t4, r4, u4) {
  for (var i4 = 0; i4 < u4.length; ) G(u4[i4++], u4[i4++], u4[i4++]);
  n.__c && n.__c(r4, t4), t4.some(function(r5) {
    try {
      t4 = r5.__h, r5.__h = [], t4.some(function(n3) {
        n3.call(r5);
      });
    } catch (t5) {
      n.__e(t5, r5.__v);
    }
  });
}
function F(t4, r4, u4, i4, f4, o4, e4, l4, c4, a4) {
  var s4, h5, y5, _4, k4, b4, m5, M2, $2 = u4.props || p, x3 = r4.props, C3 = r4.type;
  if (C3 == "svg" ? f4 = "http://www.w3.org/2000/svg" : C3 == "math" ? f4 = "http://www.w3.org/1998/Math/MathML" : f4 || (f4 = "http://www.w3.org/1999/xhtml"), o4) {
    for (s4 = 0; s4 < o4.length; s4++) if ((k4 = o4[s4]) && (C3 ? k4.localName == C3 : k4.nodeType == 3)) {
      t4 = k4, o4[s4] = null;
      break;
    }
  }
  if (!t4) {
    if (M2 = a4.ownerDocument || document, !C3) return M2.createTextNode(x3);
    t4 = M2.createElementNS(f4, C3, x3.is ? x3 : a4), l4 && (n.__m && n.__m(r4, o4), l4 = !1), o4 = null;
  }
  if (C3) {
    if (a4 = C3 == "template" && t4.content || t4, o4 = C3 == "textarea" && x3.defaultValue != null ? null : o4 && d.call(a4.childNodes), !l4 && o4) for ($2 = {}, s4 = 0; s4 < t4.attributes.length; s4++) $2[(k4 = t4.attributes[s4]).name] = k4.value;
    for (s4 in $2) k4 = $2[s4], s4 == "dangerouslySetInnerHTML" ? y5 = k4 : s4 == "children" || s4 in x3 || s4 == "value" && "defaultValue" in x3 || s4 == "checked" && "defaultChecked" in x3 || N(t4, s4, null, k4, f4);
    for (s4 in x3) k4 = x3[s4], s4 == "children" ? _4 = k4 : s4 == "dangerouslySetInnerHTML" ? h5 = k4 : s4 == "value" ? b4 = k4 : s4 == "checked" ? m5 = k4 : l4 && typeof k4 != "function" || $2[s4] === k4 || N(t4, s4, k4, $2[s4], f4);
    h5 ? (l4 || y5 && (h5.__html == y5.__html || h5.__html == t4.innerHTML) || (t4.innerHTML = h5.__html), r4.__k = []) : (y5 && (t4.textContent = ""), (C3 == "foreignObject" || f4 == "http://www.w3.org/1998/Math/MathML" && v.test(C3)) && (f4 = "http://www.w3.org/1999/xhtml"), I(a4, w(_4) ? _4 : [_4], r4, u4, i4, f4, o4, e4, o4 ? o4[0] : u4.__k && S(u4, 0), l4, c4), o4 && o4.some(g)), l4 && C3 != "textarea" || (s4 = "value", C3 == "progress" && b4 == null ? t4.removeAttribute(s4) : b4 == null || b4 === t4[s4] && (C3 != "progress" || b4) || N(t4, s4, b4, $2[s4], f4), s4 = "checked", m5 != null && m5 != t4[s4] && N(t4, s4, m5, $2[s4], f4));
  } else $2 === x3 || l4 && t4.data == x3 || (t4.data = x3);
  return t4;
}
function G(t4, r4, u4, i4) {
  try {
    typeof t4 == "function" ? r4 ? r4.__x = t4(r4) || 1 : i4 && (i4 = i4.__c || i4.__e) && (r4 = i4.__x) && (i4.__x = null, typeof r4 == "function" ? r4() : t4(null)) : t4.current = r4;
  } catch (t5) {
    n.__e(t5, u4);
  }
}
function J(t4, r4, u4) {
  var i4, f4, o4, e4;
  if (n.unmount && n.unmount(t4), !(i4 = t4.ref) || i4.current && i4.current != t4.__e || G(i4, null, r4, t4), i4 = t4.__c) {
    if (i4.componentWillUnmount) try {
      i4.componentWillUnmount();
    } catch (t5) {
      n.__e(t5, r4);
    }
    i4.__P = i4.__n = null;
  }
  if (i4 = t4.__k) for (e4 = 0; e4 < i4.length; e4++) i4[e4] && J(i4[e4], r4, typeof t4.type != "function" || u4 && !t4.props.__P);
  !u4 && (i4 = t4.__c) && (i4 = i4.__z) && (f4 = B(i4, o4 = [])) && (i4 == t4.__e && o4.some(g), g(f4), g(i4)), u4 || g(t4.__e), t4.__e = t4.__c = t4.__ = null;
}
function K(n3, t4, r4) {
  return this.constructor(n3, r4);
}
function Q(t4, r4) {
  var u4, i4, f4, o4;
  n.__ && n.__(t4, r4), r4.nodeType == 9 && (r4 = r4.documentElement), i4 = (u4 = t4 && 32 & t4.__u) ? null : r4.__k, r4.__k = m($, { children: [t4] }), f4 = [], o4 = [], z(r4, r4.__k, i4 || p, p, r4.namespaceURI, i4 ? null : r4.firstChild ? d.call(r4.childNodes) : null, f4, i4 ? i4.__e : r4.firstChild, u4, o4), E(f4, r4.__k, o4), r4.__k.props.children = null;
}
n = { __e: function(n3, t4, r4, u4) {
  for (var i4, o4, e4; t4 = t4.__; ) if ((i4 = t4.__c) && !(1 & i4.__g)) {
    i4.__g |= 4;
    try {
      if ((e4 = (o4 = i4.constructor) && o4.getDerivedStateFromError) && i4.setState(o4.getDerivedStateFromError(n3)), i4.componentDidCatch && (i4.componentDidCatch(n3, u4 || {}), e4 = 1), e4 && 8 & i4.__g) return void (i4.__g |= 2);
    } catch (t5) {
      n3 = t5;
    }
  }
  throw f = 0, n3;
} }, t = 0, r = function(n3) {
  return n3 != null && n3.constructor === h;
}, x.prototype.setState = function(n3, t4) {
  var r4 = this.__s;
  r4 && r4 != this.state || (r4 = this.__s = _({}, this.state)), typeof n3 == "function" && (n3 = n3(_({}, r4), this.props)), n3 && (_(r4, n3), this.__v && (t4 && this.__k.push(t4), L(this)));
}, x.prototype.forceUpdate = function(n3) {
  this.__v && (this.__g |= 4, n3 && this.__h.push(n3), L(this));
}, x.prototype.render = $, u = [], f = 0, o = function(n3, t4) {
  return n3.__v.__b - t4.__v.__b;
}, e = /* @__PURE__ */ Symbol(), l = /(PointerCapture)$|Capture$/i, c = 0, a = {}, s = 0;

// node_modules/preact/hooks/dist/hooks.mjs
var t2, r2, u2, i2, o2 = Object.is, f2 = 0, c2 = [], e2 = [], a2 = n, v2 = a2.__b, l2 = a2.__r, m2 = a2.diffed, h2 = a2.__c, s2 = a2.unmount, p2 = a2.__;
function y2(n3, t4) {
  a2.__h && a2.__h(r2, n3, f2 || t4), f2 = 0;
  var u4 = r2.__H || (r2.__H = { __: [], __h: [] });
  return n3 >= u4.__.length && u4.__.push({}), u4.__[n3];
}
function d2(n3) {
  return f2 = 1, _2(G2, n3);
}
function _2(n3, u4, i4) {
  var f4 = y2(t2++, 2);
  if (f4.t = n3, !f4.__c && (f4.__ = [i4 ? i4(u4) : G2(void 0, u4), function(n4) {
    var t4 = (f4.__N || f4.__)[0], r4 = f4.t(t4, n4);
    o2(t4, r4) || (f4.__N = [r4, f4.__[1]], f4.__c.setState({}));
  }], f4.__c = r2, !r2.__f)) {
    r2.__f = !0;
    var c4 = r2.shouldComponentUpdate;
    r2.shouldComponentUpdate = function(n4, t4, r4) {
      var u5 = this.__H;
      if (!u5) return !0;
      var i5 = !1, f5 = this.props != n4;
      if (u5.__.some(function(n5) {
        n5.__N && (i5 = !0, o2(n5.__[0], n5.__N[0]) || (f5 = !0));
      }), c4) {
        var e4 = c4.call(this, n4, t4, r4);
        return i5 ? e4 || f5 : e4;
      }
      return !i5 || f5;
    };
  }
  return f4.__;
}
function A2(n3, u4) {
  var i4 = y2(t2++, 3);
  !a2.__s && E2(i4.__H, u4) && (i4.__P = !0, i4.__ = n3, i4.u = u4, r2.__H.__h.push(i4));
}
function T2(n3) {
  return f2 = 5, w2(function() {
    return { current: n3 };
  }, []);
}
function w2(n3, r4) {
  var u4 = y2(t2++, 7);
  return E2(u4.__H, r4) && (u4.__ = n3(), u4.__H = r4), u4.__;
}
function b(n3, t4) {
  return f2 = 8, w2(function() {
    return n3;
  }, t4);
}
function g2() {
  var n3;
  do {
    for (; n3 = e2.shift(); ) try {
      C2(n3);
    } catch (t5) {
      a2.__e(t5, { __: (n3 = n3.__P) && n3.__v });
    }
    for (; n3 = c2.shift(); ) {
      var t4 = n3.__H;
      if (n3.__P && t4) try {
        t4.__h.some(C2), t4.__h.some(D2), t4.__h = [];
      } catch (r4) {
        t4.__h = [], a2.__e(r4, n3.__v);
      }
    }
  } while (e2.length);
}
a2.__b = function(n3) {
  r2 = null, v2 && v2(n3);
}, a2.__ = function(n3, t4) {
  n3 && t4.__k && t4.__k.__m && (n3.__m = t4.__k.__m), p2 && p2(n3, t4);
}, a2.__r = function(n3) {
  l2 && l2(n3), t2 = 0;
  var i4 = (r2 = n3.__c).__H;
  i4 && (u2 == r2 ? r2.__h = [] : (i4.__h.some(C2), i4.__h.some(D2), t2 = 0), i4.__h = [], i4.__.some(function(n4) {
    n4.__N && (n4.__ = n4.__N), n4.u = n4.__N = void 0;
  })), u2 = r2;
}, a2.diffed = function(n3) {
  m2 && m2(n3);
  var t4 = n3.__c;
  t4 && t4.__H && (t4.__H.__h.length && B2(c2.push(t4)), t4.__H.__.some(function(n4) {
    n4.u && (n4.__H = n4.u);
  })), u2 = r2 = null;
}, a2.__c = function(n3, t4) {
  t4.some(function(n4) {
    try {
      n4.__h.some(C2), n4.__h = n4.__h.filter(function(n5) {
        return !n5.__ || D2(n5);
      });
    } catch (t5) {
      n4.__h = [function() {
        throw t5;
      }];
    }
  }), h2 && h2(n3, t4);
}, a2.unmount = function(n3) {
  s2 && s2(n3);
  var t4, r4, u4 = n3.__c;
  u4 && u4.__H && (u4.__H.__.some(function(u5) {
    try {
      if (u5.__P && u5.__c) {
        if (r4 === void 0) {
          for (r4 = n3.__; r4 && (!r4.__c || !r4.__c.__P); ) r4 = r4.__;
          r4 = r4 && r4.__c;
        }
        u5.__P = r4, B2(e2.push(u5));
      } else C2(u5);
    } catch (n4) {
      t4 = n4;
    }
  }), u4.__H = void 0, t4 && a2.__e(t4, u4.__v));
};
var k2 = typeof requestAnimationFrame == "function";
function z2(n3) {
  var t4, r4 = function() {
    clearTimeout(u4), k2 && cancelAnimationFrame(t4), setTimeout(n3);
  }, u4 = setTimeout(r4, 35);
  k2 && (t4 = requestAnimationFrame(r4));
}
function B2(n3) {
  n3 != 1 && i2 == a2.requestAnimationFrame || ((i2 = a2.requestAnimationFrame) || z2)(g2);
}
function C2(n3) {
  var t4 = r2, u4 = n3.__c;
  typeof u4 == "function" && (n3.__c = void 0, u4()), r2 = t4;
}
function D2(n3) {
  var t4 = r2;
  n3.__c = n3.__(), r2 = t4;
}
function E2(n3, t4) {
  return !n3 || n3.length != t4.length || t4.some(function(t5, r4) {
    return !o2(t5, n3[r4]);
  });
}
function G2(n3, t4) {
  return typeof t4 == "function" ? t4(n3) : t4;
}

// node_modules/@preact/signals-core/dist/signals-core.module.js
var i3 = /* @__PURE__ */ Symbol.for("preact-signals");
function t3() {
  if (v3 > 1)
    v3--;
  else {
    var i4, t4 = !1;
    for ((function() {
      var i5 = c3;
      for (c3 = void 0; i5 !== void 0; ) {
        var t5 = i5.S;
        if (t5.v === i5.v) for (var r5 = t5.t; r5 !== void 0; r5 = r5.x) r5.i === i5.i && (r5.i = t5.i);
        i5 = i5.o;
      }
    })(); h3 !== void 0; ) {
      var r4 = h3;
      for (h3 = void 0, s3++; r4 !== void 0; ) {
        var n3 = r4.u;
        if (r4.u = void 0, r4.f &= -3, !(8 & r4.f) && w3(r4)) try {
          r4.c();
        } catch (r5) {
          t4 || (i4 = r5, t4 = !0);
        }
        r4 = n3;
      }
    }
    if (s3 = 0, v3--, t4) throw i4;
  }
}
function r3(i4) {
  if (v3 > 0) return i4();
  u3 = ++e3, v3++;
  try {
    return i4();
  } finally {
    t3();
  }
}
var n2, o3 = void 0;
function f3(i4) {
  var t4 = o3, r4 = n2;
  o3 = void 0, n2 = void 0;
  try {
    return i4();
  } finally {
    o3 = t4, n2 = r4;
  }
}
var h3 = void 0, v3 = 0, s3 = 0, e3 = 0, u3 = 0, c3 = void 0, a3 = 0;
function d3(i4) {
  if (o3 !== void 0) {
    var t4 = i4.n;
    if (t4 === void 0 || t4.t !== o3)
      return t4 = { i: 0, S: i4, p: o3.s, n: void 0, t: o3, e: void 0, x: void 0, r: t4 }, o3.s !== void 0 && (o3.s.n = t4), o3.s = t4, i4.n = t4, 32 & o3.f && i4.S(t4), t4;
    if (t4.i === -1)
      return t4.i = 0, t4.n !== void 0 && (t4.n.p = t4.p, t4.p !== void 0 && (t4.p.n = t4.n), t4.p = o3.s, t4.n = void 0, o3.s.n = t4, o3.s = t4), t4;
  }
}
function l3(i4, t4) {
  this.v = i4, this.i = 0, this.n = void 0, this.t = void 0, this.l = 0, this.W = t4?.watched, this.Z = t4?.unwatched, this.name = t4?.name;
}
l3.prototype.brand = i3;
l3.prototype.h = function() {
  return !0;
};
l3.prototype.S = function(i4) {
  var t4 = this, r4 = this.t;
  r4 !== i4 && i4.e === void 0 && (i4.x = r4, this.t = i4, r4 !== void 0 ? r4.e = i4 : f3(function() {
    var i5;
    (i5 = t4.W) == null || i5.call(t4);
  }));
};
l3.prototype.U = function(i4) {
  var t4 = this;
  if (this.t !== void 0) {
    var r4 = i4.e, n3 = i4.x;
    r4 !== void 0 && (r4.x = n3, i4.e = void 0), n3 !== void 0 && (n3.e = r4, i4.x = void 0), i4 === this.t && (this.t = n3, n3 === void 0 && f3(function() {
      var i5;
      (i5 = t4.Z) == null || i5.call(t4);
    }));
  }
};
l3.prototype.subscribe = function(i4) {
  var t4 = this;
  return x2(function() {
    var r4 = t4.value;
    f3(function() {
      return i4(r4);
    });
  }, { name: "sub" });
};
l3.prototype.valueOf = function() {
  return this.value;
};
l3.prototype.toString = function() {
  return this.value + "";
};
l3.prototype.toJSON = function() {
  return this.value;
};
l3.prototype.peek = function() {
  var i4 = this;
  return f3(function() {
    return i4.value;
  });
};
Object.defineProperty(l3.prototype, "value", { get: function() {
  var i4 = d3(this);
  return i4 !== void 0 && (i4.i = this.i), this.v;
}, set: function(i4) {
  if (i4 !== this.v) {
    if (s3 > 100) throw new Error("Cycle detected");
    (function(i5) {
      v3 !== 0 && s3 === 0 && i5.l !== u3 && (i5.l = u3, c3 = { S: i5, v: i5.v, i: i5.i, o: c3 });
    })(this), this.v = i4, this.i++, a3++, v3++;
    try {
      for (var r4 = this.t; r4 !== void 0; r4 = r4.x) r4.t.N();
    } finally {
      t3();
    }
  }
} });
function y3(i4, t4) {
  return new l3(i4, t4);
}
function w3(i4) {
  for (var t4 = i4.s; t4 !== void 0; t4 = t4.n) if (t4.S.i !== t4.i || !t4.S.h() || t4.S.i !== t4.i) return !0;
  return !1;
}
function b2(i4) {
  for (var t4 = i4.s; t4 !== void 0; t4 = t4.n) {
    var r4 = t4.S.n;
    if (r4 !== void 0 && (t4.r = r4), t4.S.n = t4, t4.i = -1, t4.n === void 0) {
      i4.s = t4;
      break;
    }
  }
}
function _3(i4) {
  for (var t4 = i4.s, r4 = void 0; t4 !== void 0; ) {
    var n3 = t4.p;
    t4.i === -1 ? (t4.S.U(t4), n3 !== void 0 && (n3.n = t4.n), t4.n !== void 0 && (t4.n.p = n3)) : r4 = t4, t4.S.n = t4.r, t4.r !== void 0 && (t4.r = void 0), t4 = n3;
  }
  i4.s = r4;
}
function j2(i4, t4) {
  l3.call(this, void 0, t4), this.x = i4, this.s = void 0, this.g = a3 - 1, this.f = 4;
}
j2.prototype = new l3();
j2.prototype.h = function() {
  if (this.f &= -3, 1 & this.f) return !1;
  if ((36 & this.f) == 32 || (this.f &= -5, this.g === a3)) return !0;
  if (this.g = a3, this.f |= 1, this.i > 0 && !w3(this))
    return this.f &= -2, !0;
  var i4 = o3;
  try {
    b2(this), o3 = this;
    var t4 = this.x();
    (16 & this.f || this.v !== t4 || this.i === 0) && (this.v = t4, this.f &= -17, this.i++);
  } catch (i5) {
    this.v = i5, this.f |= 16, this.i++;
  }
  return o3 = i4, _3(this), this.f &= -2, !0;
};
j2.prototype.S = function(i4) {
  if (this.t === void 0) {
    this.f |= 36;
    for (var t4 = this.s; t4 !== void 0; t4 = t4.n) t4.S.S(t4);
  }
  l3.prototype.S.call(this, i4);
};
j2.prototype.U = function(i4) {
  if (this.t !== void 0 && (l3.prototype.U.call(this, i4), this.t === void 0)) {
    this.f &= -33;
    for (var t4 = this.s; t4 !== void 0; t4 = t4.n) t4.S.U(t4);
  }
};
j2.prototype.N = function() {
  if (!(2 & this.f)) {
    this.f |= 6;
    for (var i4 = this.t; i4 !== void 0; i4 = i4.x) i4.t.N();
  }
};
Object.defineProperty(j2.prototype, "value", { get: function() {
  if (1 & this.f) throw new Error("Cycle detected");
  var i4 = d3(this);
  if (this.h(), i4 !== void 0 && (i4.i = this.i), 16 & this.f) throw this.v;
  return this.v;
} });
function O(i4, t4) {
  return new j2(i4, t4);
}
function p3(i4) {
  var r4 = i4.j;
  if (i4.j = void 0, typeof r4 == "function") {
    v3++;
    var n3 = o3;
    o3 = void 0;
    try {
      r4();
    } catch (t4) {
      throw i4.f &= -2, i4.f |= 8, g3(i4), t4;
    } finally {
      o3 = n3, t3();
    }
  }
}
function g3(i4) {
  for (var t4 = i4.s; t4 !== void 0; t4 = t4.n) t4.S.U(t4);
  i4.x = void 0, i4.s = void 0, p3(i4);
}
function S2(i4) {
  if (o3 !== this) throw new Error("Out-of-order effect");
  _3(this), o3 = i4, this.f &= -2;
  try {
    8 & this.f && g3(this);
  } finally {
    t3();
  }
}
function m3(i4, t4) {
  this.x = i4, this.j = void 0, this.s = void 0, this.u = void 0, this.f = 32, this.name = t4?.name, n2 && n2.push(this);
}
m3.prototype.c = function() {
  var i4 = this.S();
  try {
    if (8 & this.f || this.x === void 0) return;
    var t4 = this.x();
    typeof t4 == "function" && (this.j = t4);
  } finally {
    i4();
  }
};
m3.prototype.S = function() {
  if (1 & this.f) throw new Error("Cycle detected");
  this.f |= 1, this.f &= -9, p3(this), b2(this), v3++;
  var i4 = o3;
  return o3 = this, S2.bind(this, i4);
};
m3.prototype.N = function() {
  2 & this.f || (this.f |= 2, this.u = h3, h3 = this);
};
m3.prototype.d = function() {
  this.f |= 8, 1 & this.f || g3(this);
};
m3.prototype.dispose = function() {
  this.d();
};
function x2(i4, t4) {
  var r4 = new m3(i4, t4);
  try {
    r4.c();
  } catch (i5) {
    throw r4.d(), i5;
  }
  var n3 = r4.d.bind(r4);
  return n3[Symbol.dispose] = n3, n3;
}

// node_modules/@preact/signals/dist/signals.module.js
var h4, d4, p4, m4 = typeof window < "u" && !!window.__PREACT_SIGNALS_DEVTOOLS__;
var g4 = [];
x2(function() {
  h4 = this.N;
})();
function b3(i4, n3) {
  n[i4] = n3.bind(null, n[i4] || function() {
  });
}
function y4(i4) {
  if (p4) {
    var n3 = p4;
    p4 = void 0, n3();
  }
  p4 = i4 && i4.S();
}
function w4(i4) {
  var n3 = this, r4 = i4.data, t4 = useSignal(r4);
  t4.name = "ReactiveDom", t4.value = r4;
  var e4 = w2(function() {
    for (var i5 = n3, r5 = n3.__v; r5 = r5.__; ) if (r5.__c) {
      r5.__c.__$f |= 4;
      break;
    }
    var o4 = O(function() {
      var i6 = t4.value.value;
      return i6 === 0 ? 0 : i6 === !0 ? "" : i6 || "";
    }), e5 = O(function() {
      return !Array.isArray(o4.value) && !r(o4.value);
    }), u5 = x2(function() {
      if (this.N = M, e5.value) {
        var n4 = o4.value;
        i5.__v && i5.__v.__e && i5.__v.__e.nodeType === 3 && (i5.__v.__e.data = n4);
      }
    }), c5 = n3.__$u.d;
    return n3.__$u.d = function() {
      u5(), c5.call(this);
    }, [e5, o4];
  }, []), u4 = e4[0], c4 = e4[1];
  return u4.value ? c4.peek() : c4.value;
}
w4.displayName = "ReactiveTextNode";
Object.defineProperties(l3.prototype, { constructor: { configurable: !0, value: k($, null).constructor }, type: { configurable: !0, value: w4 }, props: { configurable: !0, get: function() {
  var i4 = this;
  return { data: { get value() {
    return i4.value;
  } } };
} }, __b: { configurable: !0, value: 1 } });
b3("__b", function(i4, n3) {
  if (y4(), d4 = void 0, typeof n3.type == "string") {
    var r4, t4 = n3.props;
    for (var f4 in t4) if (f4 !== "children") {
      var o4 = t4[f4];
      o4 instanceof l3 && (r4 || (n3.__np = r4 = {}), r4[f4] = o4, t4[f4] = o4.peek());
    }
  }
  i4(n3);
});
b3("__r", function(i4, r4) {
  if (i4(r4), r4.type !== $) {
    y4();
    var t4, f4 = r4.__c;
    f4 && (f4.__$f &= -2, (t4 = f4.__$u) === void 0 && (f4.__$u = t4 = (function(i5, n3) {
      var r5;
      return x2(function() {
        r5 = this;
      }, { name: n3 }), r5.c = i5, r5;
    })(/* @__PURE__ */ (function(i5) {
      return function() {
        var n3;
        m4 && ((n3 = this.y) == null || n3.call(this)), i5.__$f |= 1, i5.setState({});
      };
    })(f4), typeof r4.type == "function" ? r4.type.displayName || r4.type.name : ""))), d4 = f4, y4(t4);
  }
});
b3("__e", function(i4, n3, r4, t4) {
  y4(), d4 = void 0, i4(n3, r4, t4);
});
b3("diffed", function(i4, n3) {
  y4(), d4 = void 0;
  var r4;
  if (typeof n3.type == "string" && (r4 = n3.__e)) {
    var t4 = n3.__np, f4 = n3.props, o4 = r4.U;
    if (o4) for (var e4 in o4) {
      var u4 = o4[e4];
      u4 === void 0 || t4 && e4 in t4 || (u4.d(), o4[e4] = void 0);
    }
    if (t4) {
      o4 || (o4 = {}, r4.U = o4);
      for (var a4 in t4) {
        var c4 = o4[a4], v4 = t4[a4];
        c4 === void 0 ? (c4 = k3(r4, a4, v4, f4), o4[a4] = c4) : c4.o(v4, f4);
      }
    }
  }
  i4(n3);
});
function k3(i4, n3, r4, t4) {
  var f4 = n3 in i4 && i4.ownerSVGElement === void 0, o4 = y3(r4);
  return { o: function(i5, n4) {
    o4.value = i5, t4 = n4;
  }, d: x2(function() {
    this.N = M;
    var r5 = o4.value.value;
    t4[n3] !== r5 && (t4[n3] = r5, f4 ? i4[n3] = r5 : r5 != null && (r5 !== !1 || n3[4] === "-") ? i4.setAttribute(n3, r5) : i4.removeAttribute(n3));
  }) };
}
b3("unmount", function(i4, n3) {
  if (typeof n3.type == "string") {
    var r4 = n3.__e;
    if (r4) {
      var t4 = r4.U;
      if (t4) {
        r4.U = void 0;
        for (var f4 in t4) {
          var o4 = t4[f4];
          o4 && o4.d();
        }
      }
    }
    var e4 = n3.__np;
    if (e4) {
      var u4 = n3.props;
      for (var a4 in e4) u4[a4] = e4[a4];
    }
    n3.__np = void 0;
  } else {
    var c4 = n3.__c;
    if (c4) {
      c4.__$f |= 8;
      var v4 = c4.__$u;
      v4 && (c4.__$u = void 0, v4.d());
    }
  }
  i4(n3);
});
b3("__h", function(i4, n3, r4, t4) {
  t4 < 3 && (n3.__$f |= 2), i4(n3, r4, t4);
});
x.prototype.shouldComponentUpdate = function(i4, n3) {
  if (this.__R) return !0;
  var r4 = this.__$u, t4 = r4 && r4.s !== void 0;
  for (var f4 in n3) return !0;
  if (this.__f || typeof this.u == "boolean" && this.u === !0) {
    var o4 = 2 & this.__$f;
    if (!(t4 || o4 || 4 & this.__$f) || 1 & this.__$f) return !0;
  } else if (!(t4 || 4 & this.__$f) || 3 & this.__$f) return !0;
  for (var e4 in i4) if (e4 !== "__source" && i4[e4] !== this.props[e4]) return !0;
  for (var u4 in this.props) if (!(u4 in i4)) return !0;
  return !1;
};
function useSignal(i4, n3) {
  return w2(function() {
    return y3(i4, n3);
  }, []);
}
var A3 = function(i4) {
  queueMicrotask(function() {
    queueMicrotask(i4);
  });
};
function F2() {
  r3(function() {
    for (var i4; i4 = g4.shift(); ) h4.call(i4);
  });
}
function M() {
  g4.push(this) === 1 && (n.requestAnimationFrame || A3)(F2);
}

// src/time.ts
var kept = typeof localStorage > "u" ? null : localStorage.getItem("kron.zone"), zone = y3(kept === "utc" || kept === "job" ? kept : "local"), jobZone = y3("");
function chooseZone(next) {
  zone.value = next, localStorage.setItem("kron.zone", next);
}
var ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "UTC";
function zones() {
  let other = jobZone.value;
  return other === "" || other === "UTC" || other === ownZone ? ["local", "utc"] : ["local", "job", "utc"];
}
function nextZone() {
  let all = zones();
  chooseZone(all[(all.indexOf(zone.value) + 1) % all.length]);
}
function zoneName(of = zone.value) {
  return nameOf(of).split("/").pop().replaceAll("_", " ");
}
function nameOf(of) {
  return of === "utc" ? "UTC" : of === "job" && zones().includes("job") ? jobZone.value : ownZone;
}
var offset = 0;
function setNow(text) {
  let said = Date.parse(text), mine = performance.timeOrigin + performance.now(), next = said - mine;
  (offset === 0 || next > offset || offset - next > 1500) && (offset = next);
}
function now() {
  return performance.timeOrigin + performance.now() + offset;
}
var formats = /* @__PURE__ */ new Map();
function format(options, at) {
  let timeZone = nameOf(at), key = JSON.stringify(options) + timeZone, found = formats.get(key);
  if (!found) {
    try {
      found = new Intl.DateTimeFormat("en-GB", { hourCycle: "h23", ...options, timeZone });
    } catch {
      found = new Intl.DateTimeFormat("en-GB", { hourCycle: "h23", ...options, timeZone: "UTC", timeZoneName: "short" });
    }
    formats.set(key, found);
  }
  return found;
}
var TWO = "2-digit", clock = (t4, at = zone.value) => format({ hour: TWO, minute: TWO }, at).format(t4), seconds = (t4, at = zone.value) => format({ hour: TWO, minute: TWO, second: TWO }, at).format(t4), day = (t4, at = zone.value) => format({ weekday: "short", day: "numeric", month: "short" }, at).format(t4).replace(",", ""), dayKey = (t4, at) => format({ year: "numeric", month: TWO, day: TWO }, at).format(t4);
function moment(t4, at = zone.value) {
  if (dayKey(t4, at) === dayKey(now(), at)) return seconds(t4, at);
  let isFar = Math.abs(t4 - now()) > 300 * 864e5;
  return `${day(t4, at)}${isFar ? ` ${dayKey(t4, at).slice(-4)}` : ""} ${seconds(t4, at)}`;
}
var isMidnight = (t4, at = zone.value) => clock(t4, at) === "00:00", utc = (t4) => new Date(t4).toISOString().replace(".000Z", "Z");
function offsetOf(t4, at = zone.value) {
  let text = format({ timeZoneName: "longOffset" }, at).formatToParts(t4).find((part) => part.type === "timeZoneName")?.value ?? "", found = /([+-])(\d\d):(\d\d)/.exec(text);
  return found ? (found[1] === "-" ? -1 : 1) * (Number(found[2]) * 60 + Number(found[3])) : 0;
}
function clockChanges(from, until, at = zone.value, step2 = 6 * 36e5) {
  let found = [];
  for (let low = from; low < until; low += step2) {
    let [a4, b4] = [low, Math.min(until, low + step2)], before = offsetOf(a4, at), by = offsetOf(b4, at) - before;
    if (by !== 0) {
      for (; b4 - a4 > 6e4; ) {
        let middle = Math.floor((a4 + b4) / 12e4) * 6e4;
        if (middle <= a4) break;
        offsetOf(middle, at) === before ? a4 = middle : b4 = middle;
      }
      found.push({ t: Math.floor(b4 / 6e4) * 6e4, by });
    }
  }
  return found;
}
function duration(milliseconds) {
  let all = Math.max(0, Math.round(milliseconds / 1e3));
  if (milliseconds > 0 && milliseconds < 1e3) return `${Math.round(milliseconds)} ms`;
  let [d5, h5, m5, s4] = [Math.floor(all / 86400), Math.floor(all / 3600) % 24, Math.floor(all / 60) % 60, all % 60];
  return d5 > 0 ? h5 > 0 && d5 < 10 ? `${d5} d ${h5} h` : `${d5} d` : h5 > 0 ? m5 > 0 ? `${h5} h ${m5} min` : `${h5} h` : m5 > 0 ? s4 > 0 && m5 < 10 ? `${m5} min ${s4} s` : `${m5} min` : `${s4} s`;
}
function relative(t4, from = now()) {
  let left = t4 - from;
  return Math.abs(left) < 1e3 ? "now" : left > 0 ? `in ${duration(left)}` : `${duration(-left)} ago`;
}
function counter(milliseconds) {
  let all = Math.max(0, Math.floor(milliseconds / 1e3)), two = (n3) => String(n3).padStart(2, "0");
  return `${Math.floor(all / 3600)}:${two(Math.floor(all / 60) % 60)}:${two(all % 60)}`;
}
function bytes(count) {
  let unit = 0;
  for (; count >= 1e3 && unit < 4; unit++) count /= 1e3;
  return `${count.toFixed(unit > 0 && count < 10 ? 1 : 0)} ${" KMGT"[unit].trim()}B`;
}

// src/api.ts
var login = y3("unknown"), session = y3(null), awaySince = y3(null), KEY = "kron.session", ASK_TIME = 3e4, ApiError = class extends Error {
  constructor(status2, problem) {
    super(problem.detail);
    this.status = status2;
    this.problem = problem;
  }
  status;
  problem;
  get isAway() {
    return this.status === 0 || this.status === 504 || this.status === 503 && this.problem.type.endsWith(":unreachable");
  }
};
function lost(detail) {
  return new ApiError(0, { type: "about:blank", title: "lost", status: 0, detail });
}
function headers(more) {
  let token = localStorage.getItem(KEY);
  return { ...token ? { Authorization: `Bearer ${token}` } : { "X-Kron-CSRF": session.value?.csrf ?? "" }, ...more };
}
async function problemOf(response) {
  try {
    let problem = await response.json();
    if (typeof problem.detail == "string") return new ApiError(response.status, problem);
  } catch {
  }
  return new ApiError(response.status, {
    type: "about:blank",
    title: response.statusText,
    status: response.status,
    detail: `krond answered ${response.status} ${response.statusText}`
  });
}
function noteAway(error) {
  return error.status === 401 && loggedOut(), error.isAway && (awaySince.value ??= now()), error;
}
async function open(path3, options = {}) {
  let sent = headers(options.headers ?? {});
  options.body !== void 0 && (sent["Content-Type"] = "application/json");
  let response;
  try {
    response = await fetch(path3.startsWith("/") ? path3 : `/api/v1/${path3}`, {
      method: options.method ?? "GET",
      headers: sent,
      body: options.body === void 0 ? null : JSON.stringify(options.body),
      cache: "no-store",
      ...options.signal ? { signal: options.signal } : {}
    });
  } catch (error) {
    throw error instanceof DOMException && error.name === "AbortError" ? error : noteAway(lost("kron web does not answer"));
  }
  if (!response.ok) throw noteAway(await problemOf(response));
  return response;
}
async function get(path3, signal) {
  let late = AbortSignal.timeout(ASK_TIME), value = await (await open(path3, { signal: signal ? AbortSignal.any([signal, late]) : late }).catch((error) => {
    throw late.aborted ? noteAway(lost("krond takes too long to answer")) : error;
  })).json();
  return awaySince.value = null, value;
}
async function post(path3, body, more = {}) {
  let text = await (await open(path3, { method: "POST", headers: more, ...body === void 0 ? {} : { body } })).text();
  return text === "" ? {} : JSON.parse(text);
}
async function postOnce(path3, body) {
  let key = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  for (let tries = 0; ; ++tries)
    try {
      return await post(path3, body, { "Idempotency-Key": key });
    } catch (error) {
      if (!(error instanceof ApiError) || !error.isAway || tries === 5) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500 * (tries + 1)));
    }
}
function loggedOut() {
  localStorage.removeItem(KEY), session.value = null, login.value = "out";
}
function loggedIn(answer) {
  answer.token && localStorage.setItem(KEY, answer.token), session.value = answer, login.value = "in";
}
async function trade(secret) {
  try {
    return loggedIn(await post("session", { [secret.startsWith("kron_") ? "token" : "code"]: secret })), !0;
  } catch {
    return !1;
  }
}
async function resume() {
  let found = /^#code=([0-9a-f]+)$/.exec(location.hash);
  if (!(found && (history.replaceState(null, "", location.pathname + "#/"), dispatchEvent(new HashChangeEvent("hashchange")), await trade(found[1]))))
    try {
      loggedIn(await get("session"));
    } catch (error) {
      error instanceof ApiError && error.status === 401 || setTimeout(() => {
        resume();
      }, 2e3);
    }
}
async function logOut() {
  await open("session", { method: "DELETE" }).catch(() => {
  }), loggedOut();
}
setInterval(() => {
  login.value === "in" && !document.hidden && resume();
}, 36e5);
addEventListener("storage", (event) => {
  event.key === KEY && (event.newValue ? resume() : loggedOut());
});
var may = (role) => {
  let mine = session.value?.role ?? "read";
  return mine === "admin" || mine === role;
};

// src/live.ts
var status = y3(null), epoch = y3(0), listeners = /* @__PURE__ */ new Set(), STATUS_EVERY = 3e3, STATUS_PAUSE = 1e3, SILENT = 6e3, LOCK = "kron.events", channel = new BroadcastChannel("kron");
function onEvent(listener) {
  return listeners.add(listener), () => listeners.delete(listener);
}
var AGAIN = /* @__PURE__ */ new Set(["gap", "jobs_loaded", "reloaded", "jobs_reloaded", "krond_started", "ready"]), heard = performance.now();
function take(told) {
  if (heard = performance.now(), told.kind === "beat")
    awaySince.value = null;
  else if (told.kind === "status") {
    let before = status.value;
    setNow(told.status.now), status.value = told.status, awaySince.value = null, before && before.pid !== told.status.pid && ++epoch.value;
  } else if (told.kind === "again" || AGAIN.has(told.event.event))
    ++epoch.value;
  else
    for (let listener of listeners) listener(told.event);
}
function tell(told) {
  channel.postMessage(told), take(told);
}
channel.onmessage = (message) => take(message.data);
async function askStatus() {
  tell({ kind: "status", status: await get("status") });
}
async function read(body, onPiece, onData) {
  let reader = body.pipeThrough(new TextDecoderStream()).getReader(), rest = "";
  for (; ; ) {
    let { done, value } = await reader.read();
    if (done) return;
    rest += value, onPiece();
    for (let end = rest.indexOf(`

`); end >= 0; end = rest.indexOf(`

`)) {
      let id = "", data = "";
      for (let line of rest.slice(0, end).split(`
`))
        line.startsWith("id:") && (id = line.slice(3).trim()), line.startsWith("data:") && (data += line.slice(5).trim());
      rest = rest.slice(end + 2), data !== "" && onData(id, data);
    }
  }
}
var last = "", streaming = null;
async function follow(signal) {
  let wasAway = !1;
  for (; !signal.aborted; ) {
    streaming = new AbortController();
    try {
      let response = await open("events?fields=brief", { signal: AbortSignal.any([signal, streaming.signal]), headers: { Accept: "text/event-stream", ...last ? { "Last-Event-ID": last } : {} } }), isNew = last === "";
      last ||= response.headers.get("Last-Event-ID") ?? "", wasAway && await askStatus(), (wasAway || isNew) && tell({ kind: "again" }), wasAway = !1, await read(response.body, () => tell({ kind: "beat" }), (id, data) => {
        id && (last = id);
        try {
          tell({ kind: "event", event: JSON.parse(data) }), statusSoon();
        } catch {
        }
      });
    } catch (error) {
      if (signal.aborted || error instanceof ApiError && error.status === 401) return;
      awaySince.value ??= now();
    }
    wasAway = !0, await new Promise((resolve) => setTimeout(resolve, 1e3));
  }
}
var asking = 0;
function statusSoon() {
  asking ||= window.setTimeout(() => {
    askStatus().catch(() => {
    }).finally(() => asking = 0);
  }, STATUS_PAUSE);
}
async function watch(signal) {
  for (; !signal.aborted; )
    await new Promise((resolve) => setTimeout(resolve, STATUS_EVERY)), signal.aborted || await askStatus().catch(() => {
    });
}
function listen() {
  !holding || performance.now() - heard < SILENT || (awaySince.value ??= now() - (performance.now() - heard), streaming?.abort());
}
var holding = null;
function update() {
  let wanted2 = login.value === "in" && document.visibilityState === "visible";
  if (wanted2 && !holding) {
    let mine = new AbortController();
    holding = mine, heard = performance.now(), first().then(() => {
      mine.signal.aborted || (heard = performance.now(), askStatus().catch(() => {
      }), navigator.locks.request(LOCK, { signal: mine.signal }, () => Promise.all([follow(mine.signal), watch(mine.signal)])).catch(() => {
      }));
    });
  } else !wanted2 && holding && (holding.abort(), holding = null);
}
var first = () => Promise.resolve(), PATIENCE = 3e3;
function startLive(before) {
  first = () => Promise.race([before(), new Promise((resolve) => setTimeout(resolve, PATIENCE))]), setInterval(listen, 1e3), login.subscribe(update), document.addEventListener("visibilitychange", () => {
    let isBack = document.visibilityState === "visible" && !holding;
    update(), isBack && ++epoch.value;
  });
}

// src/route.ts
function parse() {
  let [path3 = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?"), [view = "", ...rest] = path3.split("/"), id = "";
  try {
    id = decodeURIComponent(rest.join("/"));
  } catch {
  }
  return { view, id, query: new URLSearchParams(query) };
}
var current = y3(parse());
addEventListener("hashchange", () => current.value = parse());
var route = O(() => current.value);
function go(path3) {
  location.hash = path3;
}
function setQuery(name, value) {
  let { view, id, query } = current.value, next = new URLSearchParams(query);
  value ? next.set(name, value) : next.delete(name);
  let text = next.toString();
  history.replaceState(null, "", `#/${view}${id ? `/${encodeURIComponent(id)}` : ""}${text ? `?${text}` : ""}`), current.value = parse();
}

// src/data.ts
var HOUR = 36e5, Asked = class {
  constructor(ask, pause2 = 1e3) {
    this.ask = ask;
    this.pause = pause2;
  }
  ask;
  pause;
  value = y3(null);
  error = y3(null);
  running = !1;
  again = !1;
  urgent = !1;
  timer = 0;
  last = -1 / 0;
  waiting = [];
  refresh() {
    if (this.running) {
      this.again = !0;
      return;
    }
    this.timer || (this.timer = window.setTimeout(() => {
      this.now();
    }, Math.max(0, this.last + this.pause - performance.now())));
  }
  // When it was asked for once, whatever came of it.
  async once() {
    this.last > -1 / 0 || await new Promise((resolve) => this.waiting.push(resolve));
  }
  async now() {
    if (clearTimeout(this.timer), this.timer = 0, this.running) {
      this.urgent = !0;
      return;
    }
    this.running = !0;
    try {
      this.value.value = await this.ask(), this.error.value = null;
    } catch (error) {
      error instanceof ApiError && (this.error.value = error);
    }
    this.running = !1, this.last = performance.now();
    for (let resolve of this.waiting.splice(0)) resolve();
    let [urgent, again] = [this.urgent, this.again];
    this.urgent = this.again = !1, urgent ? await this.now() : again && this.refresh();
  }
};
function markOf(run) {
  return run.outcome === "skipped" ? "skip" : run.outcome === "missed" ? "miss" : run.outcome === "unschedulable" ? "none" : run.outcome === "passed over" ? "over" : run.state === "running" ? "run" : run.exitCode === null || run.exitCode === void 0 ? "unknown" : run.failed ?? run.exitCode !== 0 ? "fail" : "ok";
}
var MARK_WORDS = {
  ok: "succeeded",
  fail: "failed",
  skip: "skipped",
  miss: "missed",
  none: "no time",
  over: "passed over",
  run: "running",
  unknown: "end unknown"
}, ROW_FIELDS = ["identity", "schedule", "timezone", "task", "description", "suspended", "paused", "next", "running", "waiting", "last", "outcomes", "usualSeconds"], jobs = y3(/* @__PURE__ */ new Map()), jobsComplete = y3(!1), MOST_IN_PAGE = 2e4, isServerFiltered = y3(!1), loading = null, wanted = "";
async function loadJobs() {
  loading?.abort();
  let mine = new AbortController();
  loading = mine, dirty.clear();
  let found = /* @__PURE__ */ new Map(), after;
  try {
    do {
      let page = await get(`jobs?limit=1000&outcomes=20&fields=${ROW_FIELDS.join(",")}${wanted}${after ? `&after=${encodeURIComponent(after)}` : ""}`, mine.signal);
      for (let job of page.jobs) found.set(job.identity, job);
      after = page.next, jobsComplete.value || (jobs.value = new Map(found));
    } while (after && found.size < MOST_IN_PAGE);
    isServerFiltered.value = after !== void 0 || wanted !== "", jobs.value = found, jobsComplete.value = !0, lastLoad = performance.now();
  } catch (error) {
    if (error instanceof ApiError && !error.isAway) throw error;
  }
}
function filterByServer(text) {
  let words = text.split(/\s+/).filter(Boolean), state = words.map((word2) => /^is:(running|paused|suspended)$/.exec(word2)?.[1]).find(Boolean), name = words.find((word2) => !word2.startsWith("is:")), next = `${state ? `&state=${state}` : ""}${name ? `&${name.endsWith("/") ? "prefix" : "match"}=${encodeURIComponent(name)}` : ""}`;
  next !== wanted && (wanted = next, loadJobs());
}
var MOST_BY_NAME = 12, LOAD_AGAIN = 1e4, dirty = /* @__PURE__ */ new Set(), inSight = { names: /* @__PURE__ */ new Set() }, patching = 0, lastLoad = 0;
async function patchJobs() {
  patching = 0;
  let seen = [...dirty].filter((name) => inSight.names.has(name)).slice(0, MOST_BY_NAME);
  for (let name of seen) dirty.delete(name);
  let next = new Map(jobs.value);
  await Promise.all(
    seen.map(async (name) => {
      try {
        next.set(name, await get(`jobs/${encodeURIComponent(name)}`));
      } catch (error) {
        error instanceof ApiError && error.status === 404 && next.delete(name);
      }
    })
  ), seen.length > 0 && (jobs.value = next), dirty.size !== 0 && (performance.now() - lastLoad > LOAD_AGAIN ? await loadJobs() : patchSoon(700));
}
function patchSoon(pause2) {
  patching ||= window.setTimeout(() => {
    patchJobs().catch(() => {
    });
  }, pause2);
}
var isFailing = (job) => {
  let mark2 = job.last ? markOf(job.last) : "ok";
  return mark2 === "fail" || mark2 === "miss" || mark2 === "none" || mark2 === "unknown";
}, attentionAsked = new Asked(() => get("attention"), 1e3);
function tookOf(run) {
  return run.durationSeconds ?? (run.startedAt && run.endedAt ? (Date.parse(run.endedAt) - Date.parse(run.startedAt)) / 1e3 : void 0);
}
function endOf(run) {
  switch (markOf(run)) {
    case "ok":
    case "fail":
      return run.exitCode < 0 ? `ended by signal ${-run.exitCode}` : run.exitCode > 128 && run.exitCode < 160 ? `exit ${run.exitCode}, signal ${run.exitCode - 128}` : `exit ${run.exitCode}`;
    case "run":
      return "running";
    case "unknown":
      return "its end is not known";
    default: {
      let why = [run.reason, run.clause, run.detail].filter(Boolean).join(": "), word2 = MARK_WORDS[markOf(run)];
      return why ? `${word2}: ${why}` : word2;
    }
  }
}
var FIRST_SPAN = 24, NEAR_SPAN = 1, SHORTEST_SPAN = 0.5, LONGEST_SPAN = 336, ownSpan = y3(FIRST_SPAN), span = O(() => {
  let { query } = route.value, found = /^(\d+(?:\.\d+)?)([mhd])$/.exec(query.get("for") ?? ""), hours = found ? Number(found[1]) * { m: 1 / 60, h: 1, d: 24 }[found[2]] : ownSpan.value, from = Date.parse(query.get("from") ?? ""), order = query.get("order");
  return {
    hours: Math.min(LONGEST_SPAN, Math.max(SHORTEST_SPAN, hours)),
    from: Number.isNaN(from) ? null : from,
    order: order === "name" || order === "attention" ? order : "due"
  };
});
function chooseSpan(hours, from) {
  let wanted2 = Math.min(LONGEST_SPAN, Math.max(SHORTEST_SPAN, hours));
  setQuery("for", wanted2 >= 48 && wanted2 % 24 === 0 ? `${wanted2 / 24}d` : wanted2 % 1 === 0 ? `${wanted2}h` : `${Math.round(wanted2 * 60)}m`), setQuery("from", from === null ? "" : utc(Math.round(from / 6e4) * 6e4));
}
var COLUMN_STEPS = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200];
function columnsOf(hours) {
  let step2 = COLUMN_STEPS.find((candidate) => hours * 3600 / candidate <= 360) ?? 7200;
  return { step: step2, columns: Math.ceil(hours * 3600 / step2) };
}
function mostLanes() {
  return Math.min(40, Math.max(12, Math.floor((innerHeight - 430) / 23)));
}
async function askTimeline(hours, from, order) {
  let { step: step2, columns } = columnsOf(hours), begin = Math.floor((from ?? now() - hours * HOUR / 4) / (step2 * 1e3)) * step2 * 1e3, at = utc(begin), answer = await get(`timeline?from=${encodeURIComponent(at)}&for=${columns * step2}s&columns=${columns}&lanes=${mostLanes()}&order=${order}`);
  return setNow(answer.now), { from: Date.parse(answer.from), until: Date.parse(answer.until), columns, lanes: answer.lanes, more: answer.more, before: answer.before, after: answer.after, actual: answer.actual };
}
function isTooWide(picture) {
  let [written, spread2] = [Math.max(0, ...picture.before), Math.max(0, ...picture.after)];
  return picture.before.filter((starts) => starts > 0).length > picture.before.length / 2 && written < 2 * spread2;
}
var isFirst = !0, pictureAsked = new Asked(async () => {
  let { hours, from, order } = span.value, picture = await askTimeline(hours, from, order), mayChoose = isFirst && from === null && !route.value.query.get("for");
  return isFirst = !1, !mayChoose || !isTooWide(picture) ? picture : (ownSpan.value = NEAR_SPAN, askTimeline(NEAR_SPAN, null, order));
}, 3e3), runningAsked = new Asked(async () => (await get("runs?result=running&limit=100")).runs, 500), HAPPENED = /* @__PURE__ */ new Set(["run_started", "run_ended", "period_ended", "passed_over", "run_adopted", "job_paused", "job_resumed", "run_requested", "run_signalled"]), watched = /* @__PURE__ */ new Set(), drawn, pictured = new Promise((resolve) => drawn = resolve);
function markPicture() {
  performance.mark("picture"), drawn();
}
var SLOW_FRAME = 1500, isPictured = () => Promise.race([pictured, new Promise((resolve) => setTimeout(resolve, SLOW_FRAME))]);
function watch2(asked3, late = !1) {
  return watched.add(asked3), late ? pictureAsked.once().then(isPictured).then(() => asked3.refresh()) : asked3.refresh(), () => watched.delete(asked3);
}
var watchesJobs = y3(0);
function startData() {
  onEvent((event) => {
    if (HAPPENED.has(event.event)) {
      for (let asked3 of watched) asked3.refresh();
      event.identity && watchesJobs.value > 0 && (dirty.add(event.identity), patchSoon(300));
    }
  });
  let again = () => {
    for (let asked3 of watched) asked3.refresh();
    watchesJobs.value > 0 && loadJobs();
  };
  addEventListener("kron-changed", again);
  let first2 = !0;
  epoch.subscribe(() => {
    if (first2) {
      first2 = !1;
      return;
    }
    again();
  });
}

// src/draw/paint.ts
var cache = /* @__PURE__ */ new Map();
addEventListener("kron-theme", () => cache.clear());
function colour(name) {
  let found = cache.get(name);
  return found === void 0 && (found = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || name, cache.set(name, found)), found;
}
function paint(canvas, width, height, shapes) {
  let ratio = window.devicePixelRatio || 1, [w5, h5] = [Math.round(width * ratio), Math.round(height * ratio)];
  canvas.width !== w5 && (canvas.width = w5), canvas.height !== h5 && (canvas.height = h5);
  let context = canvas.getContext("2d");
  if (!context) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0), context.clearRect(0, 0, width, height);
  let font = getComputedStyle(document.body).fontFamily, alike = null, flush = () => {
    alike && fillPath(context, alike), alike = null;
  };
  for (let shape2 of shapes) {
    if (shape2.kind !== "rect" || shape2.stroke || !shape2.fill) {
      flush(), draw(context, shape2, font);
      continue;
    }
    (alike?.fill !== shape2.fill || alike.opacity !== shape2.opacity) && (flush(), context.beginPath(), alike = shape2), rectPath(context, shape2);
  }
  flush();
}
function rectPath(context, { x: x3, y: y5, w: w5, h: h5, r: r4 = 0 }) {
  r4 > 1.5 ? context.roundRect(x3, y5, w5, h5, Math.min(r4, w5 / 2, h5 / 2)) : context.rect(x3, y5, w5, h5);
}
function fillPath(context, { fill, opacity }) {
  context.globalAlpha = opacity ?? 1, finish(context, fill, void 0, 1), context.globalAlpha = 1;
}
function draw(context, shape2, font) {
  switch (context.globalAlpha = "opacity" in shape2 && shape2.opacity !== void 0 ? shape2.opacity : 1, shape2.kind) {
    case "rect":
      context.beginPath(), rectPath(context, shape2), finish(context, shape2.fill, shape2.stroke, 1, shape2.dash);
      break;
    case "line":
      context.beginPath(), context.moveTo(shape2.x1, shape2.y1), context.lineTo(shape2.x2, shape2.y2), finish(context, void 0, shape2.stroke, shape2.width ?? 1, shape2.dash);
      break;
    case "text":
      context.font = `${shape2.weight ?? 400} ${shape2.size ?? 11}px ${font}`, context.textAlign = shape2.align ?? "left", context.fillStyle = colour(shape2.fill), context.fillText(cut(context, shape2.text, shape2.most), shape2.x, shape2.y);
      break;
    case "circle":
      context.beginPath(), context.arc(shape2.x, shape2.y, shape2.r, 0, 2 * Math.PI), finish(context, shape2.fill, shape2.stroke, shape2.width ?? 1);
      break;
    case "path":
      context.beginPath(), shape2.points.forEach(([x3, y5], i4) => i4 === 0 ? context.moveTo(x3, y5) : context.lineTo(x3, y5)), finish(context, shape2.fill, shape2.stroke, shape2.width ?? 1);
      break;
    case "glyph":
      glyph(context, shape2.x, shape2.y, shape2.mark);
      break;
    case "hatch":
      context.save(), context.beginPath(), context.rect(shape2.x, shape2.y, shape2.w, shape2.h), context.clip(), context.beginPath();
      for (let x3 = shape2.x - shape2.h; x3 < shape2.x + shape2.w; x3 += 7)
        context.moveTo(x3, shape2.y + shape2.h), context.lineTo(x3 + shape2.h, shape2.y);
      context.globalAlpha = 0.4, finish(context, void 0, shape2.stroke, 1.2), context.restore();
      break;
  }
  context.globalAlpha = 1;
}
function finish(context, fill, stroke, width, dash) {
  fill && (context.fillStyle = colour(fill), context.fill()), stroke && (context.strokeStyle = colour(stroke), context.lineWidth = width, context.setLineDash(dash ? [3, 2] : []), context.stroke(), context.setLineDash([]));
}
function cut(context, text, most) {
  if (most === void 0 || context.measureText(text).width <= most) return text;
  let [low, high] = [0, text.length];
  for (; low < high; ) {
    let middle = low + high + 1 >> 1;
    context.measureText(`${text.slice(0, middle)}…`).width <= most ? low = middle : high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}
function glyph(context, x3, y5, mark2) {
  context.beginPath();
  let ink = (name, width = 1.8) => {
    context.strokeStyle = colour(name), context.lineWidth = width, context.stroke();
  };
  switch (mark2) {
    case "fail":
    case "failed":
      return context.moveTo(x3 - 3.5, y5 - 3.5), context.lineTo(x3 + 3.5, y5 + 3.5), context.moveTo(x3 + 3.5, y5 - 3.5), context.lineTo(x3 - 3.5, y5 + 3.5), ink("fail", 2);
    case "skip":
      return context.moveTo(x3 - 4.5, y5), context.lineTo(x3 + 4.5, y5), ink("skip", 2.4);
    case "miss":
      return context.moveTo(x3, y5 - 4.5), context.lineTo(x3 + 4.5, y5), context.lineTo(x3, y5 + 4.5), context.lineTo(x3 - 4.5, y5), context.closePath(), ink("miss", 1.6);
    case "none":
      return context.arc(x3, y5, 4, 0, 2 * Math.PI), context.moveTo(x3 - 2.8, y5 + 2.8), context.lineTo(x3 + 2.8, y5 - 2.8), ink("none", 1.6);
    case "over":
      for (let step2 of [-3.5, 0, 3.5])
        context.moveTo(x3 + step2 + 1, y5), context.arc(x3 + step2, y5, 1, 0, 2 * Math.PI);
      return context.fillStyle = colour("over"), context.fill();
    case "unknown":
      return context.arc(x3, y5, 3.6, 0, 2 * Math.PI), ink("fail", 1.4);
    default:
      return;
  }
}

// src/text.ts
var ODD = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
function plain(text) {
  return text.replace(ODD, (c4) => `⟨U+${c4.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}
function counted(count, noun) {
  return `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
}

// src/parts.tsx
var SHAPES = {
  ok: k("rect", { x: "4", y: "4", width: "6", height: "6", rx: "1", fill: "var(--ok)" }),
  fail: k("path", { d: "M3.5 3.5l7 7m0-7l-7 7", stroke: "var(--fail)", "stroke-width": "2", "stroke-linecap": "round" }),
  skip: k("path", { d: "M2.5 7h9", stroke: "var(--skip)", "stroke-width": "2.4", "stroke-linecap": "round" }),
  miss: k("path", { d: "M7 2.5L11.5 7 7 11.5 2.5 7z", fill: "none", stroke: "var(--miss)", "stroke-width": "1.6" }),
  none: k("path", { d: "M4 10l6-6M7 2.6a4.4 4.4 0 100 8.8 4.4 4.4 0 000-8.8", fill: "none", stroke: "var(--none)", "stroke-width": "1.6" }),
  over: k("path", { d: "M3 7h.01M7 7h.01M11 7h.01", stroke: "var(--over)", "stroke-width": "2", "stroke-linecap": "round" }),
  run: k("path", { d: "M4 3l7 4-7 4z", fill: "var(--run)" }),
  unknown: k("circle", { cx: "7", cy: "7", r: "3.8", fill: "none", stroke: "var(--fail)", "stroke-width": "1.5" }),
  next: k("circle", { cx: "7", cy: "7", r: "3.2", fill: "none", stroke: "var(--after)", "stroke-width": "1.8" }),
  pause: k("path", { d: "M5 3.5v7M9 3.5v7", stroke: "var(--over)", "stroke-width": "2", "stroke-linecap": "round" })
};
function Glyph({ mark: mark2, label }) {
  let words = label ?? (mark2 in MARK_WORDS ? MARK_WORDS[mark2] : void 0);
  return k("svg", { class: "glyph", viewBox: "0 0 14 14", ...words ? { role: "img", "aria-label": words } : { "aria-hidden": "true" } }, SHAPES[mark2]);
}
function Time({ at, ago }) {
  if (at == null) return null;
  let t4 = typeof at == "number" ? at : Date.parse(at);
  return (zone.value === "utc" || ago) && tickSecond.value, k("time", { dateTime: utc(t4), title: utc(t4) }, ago ? relative(t4) : moment(t4));
}
var tickSecond = y3(0);
setInterval(() => {
  document.visibilityState === "visible" && ++tickSecond.value;
}, 1e3);
function Name({ of }) {
  return k("a", { class: "name", href: `#/jobs/${encodeURIComponent(of)}` }, k("bdi", null, plain(of)));
}
function Panel({ title, more, children, label, class: extra }) {
  return k("section", { class: `panel ${extra ?? ""}`, "aria-label": label ?? (typeof title == "string" ? title : void 0) }, (title || more) && k("div", { class: "head" }, typeof title == "string" ? k("h2", null, title) : title, k("span", { class: "grow" }), more), children);
}
function Segments({ label, value, options, onChange }) {
  return k("span", { class: "seg", role: "group", "aria-label": label }, options.map(([key, text]) => k("button", { key, type: "button", "aria-pressed": key === value, onClick: () => onChange(key) }, text)));
}
function Canvas({ draw: draw2, label, onKey }) {
  let canvas = T2(null), box = T2(null), [width, setWidth] = d2(0), [spot, setSpot] = d2(null), spots = T2([]), [height, setHeight] = d2(60);
  A2(() => {
    let look = () => setWidth(box.current?.clientWidth ?? 0), observer = new ResizeObserver(look);
    return observer.observe(box.current), look(), () => observer.disconnect();
  }, []);
  let [theme2, setTheme] = d2(0);
  A2(() => {
    let changed2 = () => setTheme((n3) => n3 + 1);
    return addEventListener("kron-theme", changed2), () => removeEventListener("kron-theme", changed2);
  }, []), A2(() => {
    if (width === 0) return;
    let drawn2 = draw2(width);
    spots.current = drawn2.spots ?? [], setHeight(drawn2.height), paint(canvas.current, width, drawn2.height, drawn2.shapes);
  }, [draw2, width, height, theme2]);
  let find = (x3, y5) => spots.current.findLast((s4) => x3 >= s4.x && x3 <= s4.x + s4.w && y5 >= s4.y && y5 <= s4.y + s4.h) ?? null, keyed = (event) => {
    if (onKey?.(event.key)) return event.preventDefault();
    let all = spots.current;
    event.key === "Enter" && spot?.href && (location.hash = spot.href.slice(1));
    let step2 = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step2 === 0 || all.length === 0) return;
    event.preventDefault();
    let at = spot ? all.indexOf(spot) : -1;
    setSpot(all[(at + step2 + all.length) % all.length] ?? null);
  }, told = spot?.lines() ?? [], left = spot ? Math.min(Math.max(8, spot.x + Math.min(spot.w, 40) / 2), Math.max(8, width - 270)) : 0;
  return k("div", { class: "drawing", ref: box }, k(
    "canvas",
    {
      ref: canvas,
      style: { height: `${height}px` },
      role: "img",
      "aria-label": label,
      tabIndex: 0,
      onMouseMove: (event) => setSpot(find(event.offsetX, event.offsetY)),
      onMouseLeave: () => setSpot(null),
      onBlur: () => setSpot(null),
      onClick: () => spot?.href && (location.hash = spot.href.slice(1)),
      onKeyDown: keyed,
      class: spot?.href ? "points" : ""
    }
  ), k("div", { class: "sr", "aria-live": "polite" }, told.join(", ")), spot && told.length > 1 && k("div", { class: "tip", style: { left: `${left}px`, top: `${spot.y + spot.h + 6}px` } }, k("b", null, told[0]), told.slice(1).map((line) => k("div", null, line))));
}
var toasts = y3([]), toastId = 0;
function say(text, bad = !1) {
  let id = ++toastId;
  toasts.value = [...toasts.value.slice(-3), { id, text, bad }], setTimeout(() => toasts.value = toasts.value.filter((toast) => toast.id !== id), bad ? 12e3 : 5e3);
}
async function attempt(what) {
  try {
    let done = await what();
    done && say(done), dispatchEvent(new Event("kron-changed"));
  } catch (error) {
    say(error.message, !0);
  }
}
function Toasts() {
  return k("div", { class: "toasts", role: "status", "aria-live": "polite" }, toasts.value.map((toast) => k("div", { key: toast.id, class: toast.bad ? "bad" : "" }, plain(toast.text))));
}
var question = y3(null);
function Ask() {
  let asked3 = question.value, dialog = T2(null), [typed, setTyped] = d2("");
  if (A2(() => {
    setTyped(""), asked3 && dialog.current?.showModal();
  }, [asked3]), !asked3) return null;
  let close = () => {
    question.value === asked3 && (question.value = null);
  };
  return k("dialog", { key: asked3, ref: dialog, onClose: close, "aria-labelledby": "ask-title" }, k("h2", { id: "ask-title" }, asked3.title), k("div", { class: "body" }, asked3.text), asked3.extra, asked3.typed !== void 0 && k("label", { class: "field" }, "Type ", k("b", null, plain(asked3.typed)), " to go on", k("input", { value: typed, onInput: (event) => setTyped(event.currentTarget.value) })), k("div", { class: "buttons" }, k("button", { type: "button", autofocus: !0, onClick: close }, "Cancel"), k(
    "button",
    {
      type: "button",
      class: asked3.danger ? "danger" : "main",
      disabled: asked3.typed !== void 0 && typed !== asked3.typed,
      onClick: () => {
        close(), attempt(asked3.act);
      }
    },
    asked3.yes
  )));
}

// src/rules.ts
function rulesOf(of, krond = {}, isTask = !1) {
  let definition = of ?? {}, { deadline, concurrency = "forbid", pauseAfter, catchUpSpread } = definition.policy ?? {}, { retry, backoff, pool, notify, timeout } = definition, spread2 = catchUpSpread ?? (krond.catchUpSpreadSeconds ? duration(krond.catchUpSpreadSeconds * 1e3) : "0s"), slots = [pool && `of ${pool}`, !isTask && krond.maxRunning && `of the host:${krond.maxRunning}`].filter(Boolean);
  return [
    ["Late", !deadline || deadline === "0s" ? "not at all: then missed" : `up to ${deadline}, then missed`],
    ["Late starts", spread2 !== "0s" && `spread over ${spread2}`],
    ["Overlap", { forbid: "skipped while one runs", allow: "runs beside it", replace: "ends the one before", queue: "waits for it" }[concurrency]],
    ["Needs a slot", slots.join(" and ")],
    ["Time limit", timeout && `${timeout}, then TERM, then KILL`],
    ["Tried again", retry ? `${retry} times at most, after ${backoff ?? "10s"} at first` : ""],
    ["Fails on", definition.fails_on],
    ["Fine exits", definition.success_exit],
    ["Paused after", pauseAfter ? `failures in a row: ${pauseAfter}` : ""],
    ["Tells", notify && `${notify.to?.join(", ")}: ${notify.on?.join(", ") ?? "any change"}`],
    ["Pings", "ping" in definition && "a check, not shown here"],
    ["Runs as", definition.user],
    ["Environment", Object.keys(definition.env ?? {}).join(", ")]
  ].filter((row) => !!row[1]);
}
function awaited(waiting) {
  return waiting.for === "run" ? "the run before it" : `a slot of ${waiting.pool ?? "the host"}`;
}

// src/actions.tsx
var MOST_AT_ONCE = 1e3, TYPED_BEYOND = 20, LISTED = 12;
function allowed() {
  if (!may("operate")) say("This session may only look: it needs the role operate.", !0);
  else if (awaySince.value !== null) say("krond is away: nothing can be changed now.", !0);
  else if (status.value?.ready === !1) say("krond is not ready: nothing can be changed now.", !0);
  else return !0;
  return !1;
}
var Note = class {
  text = "";
  get body() {
    return this.text.trim() ? { note: this.text.trim() } : {};
  }
  // Nothing where nothing is said.
  get ifAny() {
    return this.text.trim() ? { note: this.text.trim() } : void 0;
  }
  get field() {
    return k("label", { class: "field" }, "Note, for those who look at it later", k("input", { maxLength: 200, autocomplete: "off", onInput: (event) => this.text = event.currentTarget.value }));
  }
};
function runNow(name) {
  if (!allowed()) return;
  let note = new Note();
  question.value = {
    title: `Run ${plain(name)} now?`,
    text: "It is started once, beside its schedule. Its next period stays where it is.",
    extra: note.field,
    yes: "Run now",
    act: async () => {
      let done = await postOnce(`jobs/${encodeURIComponent(name)}/trigger`, note.ifAny);
      if (done.outcome !== "waiting")
        return location.hash = `/runs/${done.runId}`, `${name} was started.`;
      let { waiting } = await get(`jobs/${encodeURIComponent(name)}`);
      return `${name} waits for ${awaited(waiting ?? { for: "run" })}.`;
    }
  };
}
function aboutMany(verb, names) {
  let title = names.length === 1 ? `${verb} ${plain(names[0])}?` : `${verb} ${counted(names.length, "job")}?`;
  return names.length > TYPED_BEYOND ? { title, typed: String(names.length) } : { title };
}
function pause(names) {
  if (!allowed() || names.length === 0) return;
  let note = new Note(), hours = 0, until = () => hours > 0 ? { until: new Date(now() + hours * 36e5).toISOString().replace(/\.\d+Z/, "Z") } : {};
  question.value = {
    ...aboutMany("Pause", names),
    text: k($, null, "No period starts until it is resumed. What becomes due meanwhile waits: on resume only the latest is judged, within its deadline. Runs that are going stay.", k(Names, { names })),
    extra: k($, null, k("label", { class: "field" }, "For", k("select", { onChange: (event) => hours = Number(event.currentTarget.value) }, k("option", { value: "0" }, "as long as nobody resumes it"), k("option", { value: "1" }, "1 hour"), k("option", { value: "4" }, "4 hours"), k("option", { value: "24" }, "1 day"), k("option", { value: "168" }, "1 week"))), note.field),
    yes: "Pause",
    act: () => changeMany("pause", names, { ...until(), ...note.body })
  };
}
function resumeJobs(names) {
  if (!allowed() || names.length === 0) return;
  let note = new Note(), skipMissed = !1;
  question.value = {
    ...aboutMany("Resume", names),
    text: k($, null, "If a period became due during the pause, the latest of them starts at once, if its deadline allows that.", k(Names, { names })),
    extra: k($, null, k("label", { class: "check" }, k("input", { type: "checkbox", onChange: (event) => skipMissed = event.currentTarget.checked }), " Skip what became due meanwhile"), note.field),
    yes: "Resume",
    act: () => changeMany("resume", names, { ...skipMissed ? { skipMissed } : {}, ...note.body })
  };
}
function Names({ names }) {
  return names.length < 2 ? null : k("ul", { class: "names" }, names.slice(0, LISTED).map((name) => k("li", null, plain(name))), names.length > LISTED && k("li", { class: "faint" }, "and ", names.length - LISTED, " more"));
}
async function changeMany(verb, names, body) {
  let refused = [];
  for (let at = 0; at < names.length; at += MOST_AT_ONCE) {
    let answer = await post(`jobs/${verb}`, { jobs: names.slice(at, at + MOST_AT_ONCE), ...body });
    for (let one of answer.jobs) "problem" in one && refused.push({ identity: one.identity, detail: one.problem.detail });
  }
  let done = verb === "pause" ? "paused" : "resumed";
  return refused.length > 0 && tell2(
    `${counted(names.length - refused.length, "job")} ${done}, ${refused.length} not`,
    k("ul", { class: "names" }, refused.slice(0, LISTED).map((one) => k("li", null, plain(one.identity), ": ", plain(one.detail))), refused.length > LISTED && k("li", { class: "faint" }, "and ", refused.length - LISTED, " more"))
  ), names.length - refused.length === 1 ? `1 job is ${done}.` : `${names.length - refused.length} jobs are ${done}.`;
}
function tell2(title, text) {
  setTimeout(() => question.value = { title, text, yes: "Good", act: () => Promise.resolve("") }, 0);
}
function terminate(run) {
  if (!allowed()) return;
  let note = new Note();
  question.value = {
    title: `End this run of ${plain(run.job)}?`,
    text: "It gets SIGTERM, and SIGKILL when its grace period is over.",
    extra: note.field,
    yes: "Send SIGTERM",
    danger: !0,
    act: async () => (await post(`runs/${run.runId}/terminate`, note.ifAny), "SIGTERM was sent.")
  };
}
function kill(run) {
  if (!allowed()) return;
  let note = new Note();
  question.value = {
    title: `Kill this run of ${plain(run.job)}?`,
    text: "It gets SIGKILL: it cannot put anything in order.",
    extra: note.field,
    yes: "Kill",
    danger: !0,
    typed: run.job,
    act: async () => (await post(`runs/${run.runId}/kill`, note.ifAny), "SIGKILL was sent.")
  };
}
function toggle(job) {
  job.paused ? resumeJobs([job.identity]) : pause([job.identity]);
}
function reload() {
  allowed() && (question.value = {
    title: "Read the job files again?",
    text: "krond reads them all; what changed is in force at once, what is wrong stays as it was and is said here.",
    yes: "Reload",
    act: async () => {
      let done = await post("reload");
      return `The job files were read: ${counted(done.jobs, "job")}.`;
    }
  });
}

// src/login.tsx
var ASKED = "Token, code, or the whole address";
function Login() {
  let [wrong, setWrong] = d2(!1);
  return k("main", { id: "main", class: "login", tabIndex: -1 }, k("h1", null, "Kron"), k("p", null, "Paste a token of ", k("code", null, "kron token create"), ", or the address that your own ", k("code", null, "kron web"), " prints."), k("form", { onSubmit: (event) => {
    event.preventDefault(), trade(event.currentTarget.querySelector("input").value.trim().replace(/^.*#code=/, "")).then((ok) => setWrong(!ok));
  } }, k("input", { type: "password", "aria-label": ASKED, placeholder: ASKED, autocomplete: "off" }), k("button", { type: "submit", class: "main" }, "Enter")), wrong && k("p", { class: "c-fail", role: "alert" }, "Wrong, used or too old."));
}

// src/theme.ts
var kept2 = localStorage.getItem("kron.theme"), theme = y3(kept2 === "light" || kept2 === "dark" ? kept2 : "auto"), dark = matchMedia("(prefers-color-scheme: dark)");
function apply() {
  let isDark = theme.value === "dark" || theme.value === "auto" && dark.matches;
  document.documentElement.dataset.theme = isDark ? "dark" : "light", dispatchEvent(new Event("kron-theme"));
}
function nextTheme() {
  theme.value = theme.value === "auto" ? "light" : theme.value === "light" ? "dark" : "auto", localStorage.setItem("kron.theme", theme.value), apply();
}
dark.addEventListener("change", apply);
apply();

// src/palette.tsx
var palette = y3(!1), help = y3(!1);
function entries(query) {
  let text = query.trim().toLowerCase(), found = [];
  /^[0-9a-f]{6,64}$/.test(text) && found.push({ text: `Run ${text}`, hint: "by its id", act: () => go(`/runs/${text}`) });
  let verb = [["run ", runNow], ["pause ", (name) => pause([name])], ["resume ", (name) => resumeJobs([name])]].find(([word2]) => text.startsWith(word2)), wanted2 = verb ? text.slice(verb[0].length) : text;
  for (let name of jobs.value.keys())
    if (name.toLowerCase().includes(wanted2) && (found.push(verb ? { text: plain(name), hint: `${verb[0].trim()}…`, act: () => verb[1](name) } : { text: plain(name), hint: "job", act: () => go(`/jobs/${encodeURIComponent(name)}`) }), found.length > 40))
      break;
  let fixed = [
    { text: "Overview", hint: "g o", act: () => go("/") },
    { text: "Jobs", hint: "g j", act: () => go("/jobs") },
    { text: "Jobs that failed", hint: "is:failing", act: () => go("/jobs?q=is%3Afailing") },
    { text: "Runs", hint: "g r", act: () => go("/runs") },
    { text: "Tasks", hint: "g t", act: () => go("/tasks") },
    { text: "Try lines", hint: "g y", act: () => go("/try") },
    ...status.value?.cluster ? [{ text: "Cluster", hint: "g c", act: () => go("/cluster") }] : [],
    { text: "Reload the job files…", hint: "", act: reload },
    { text: "Other colours", hint: "", act: nextTheme },
    { text: "Keys", hint: "?", act: () => help.value = !0 },
    { text: "Log out", hint: "", act: () => {
      logOut();
    } }
  ];
  return [...fixed.filter((entry) => text !== "" && entry.text.toLowerCase().includes(text)), ...found, ...text === "" ? fixed : []].slice(0, 40);
}
function Palette() {
  let dialog = T2(null), [query, setQuery2] = d2(""), [at, setAt] = d2(0);
  if (A2(() => {
    palette.value && (setQuery2(""), setAt(0), dialog.current?.showModal(), jobsComplete.value || loadJobs());
  }, [palette.value]), !palette.value) return null;
  let found = entries(query), choose = (entry) => {
    dialog.current?.close(), entry?.act();
  };
  return k("dialog", { ref: dialog, class: "palette", "aria-label": "Find a job, run or action", onClose: () => palette.value = !1, onClick: (event) => event.target === dialog.current && dialog.current?.close() }, k(
    "input",
    {
      autofocus: !0,
      role: "combobox",
      "aria-expanded": "true",
      "aria-controls": "palette-list",
      "aria-activedescendant": `entry-${at}`,
      "aria-label": "Find a job, run or action",
      placeholder: "A job, the id of a run, or: run, pause, resume …",
      value: query,
      onInput: (event) => {
        setQuery2(event.currentTarget.value), setAt(0);
      },
      onKeyDown: (event) => {
        if (event.key === "ArrowDown") setAt(Math.min(found.length - 1, at + 1));
        else if (event.key === "ArrowUp") setAt(Math.max(0, at - 1));
        else if (event.key === "Enter") choose(found[at]);
        else return;
        event.preventDefault();
      }
    }
  ), k("ul", { id: "palette-list", role: "listbox", "aria-label": "Found" }, found.map((entry, i4) => k("li", { id: `entry-${i4}`, role: "option", "aria-selected": i4 === at, onClick: () => choose(entry), onMouseEnter: () => setAt(i4) }, k("span", { class: "cut" }, entry.text), k("span", { class: "faint" }, entry.hint)))));
}
var KEYS = [
  ["/", "filter"],
  ["Ctrl-K", "find anything, do anything"],
  ["g o · g j · g r", "Overview, Jobs, Runs"],
  ["g t · g y · g c", "Tasks, Try, Cluster"],
  ["j k ↵", "down, up, open"],
  ["x · X", "select a job, all that are shown"],
  ["r", "run the job now…"],
  ["p", "pause or resume…"],
  ["e", "explain the next period"],
  ["w", "why not?"],
  ["l", "output of the last run"],
  ["b", "as written or as spread"],
  ["+ − ← → 0", "the time axis, with the picture in focus"],
  ["z", "your time, the job's, or UTC"],
  ["Esc", "back out"]
];
function Help() {
  let dialog = T2(null);
  return A2(() => {
    help.value && dialog.current?.showModal();
  }, [help.value]), help.value ? k("dialog", { ref: dialog, "aria-labelledby": "help-title", onClose: () => help.value = !1 }, k("h2", { id: "help-title" }, "Keys"), k("dl", { class: "kv keys" }, KEYS.map(([key, what]) => k($, null, k("dt", null, k("kbd", null, key)), k("dd", null, what)))), k("p", { class: "soft" }, "Whatever changes something asks first. Everything here is also on the command line: ", k("code", null, "kron --help"), "."), k("div", { class: "buttons" }, k("button", { type: "button", autofocus: !0, onClick: () => dialog.current?.close() }, "Close"))) : null;
}

// src/views/job_why.tsx
var TOLD = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|`[^`]+`)/;
function timesIn(text) {
  return plain(text).split(TOLD).map((part, i4) => i4 % 2 === 0 ? part : part.startsWith("`") ? k("code", null, part.slice(1, -1)) : k(Time, { at: part }));
}
function sentence(text) {
  return text === "" ? null : k($, null, timesIn(text.charAt(0).toUpperCase() + text.slice(1)), /[.!?]$/.test(text) ? "" : ".");
}
var MARKS = { executed: "ok", running: "run", skipped: "skip", missed: "miss", excluded: "none", "no time": "none", "passed over": "over", paused: "pause", suspended: "pause", due: "next", ahead: "next" };
function instantOf(text) {
  let utc2 = Date.parse(`${text}Z`);
  if (Number.isNaN(utc2)) return utc2;
  let guess = utc2 - offsetOf(utc2) * 6e4;
  return utc2 - offsetOf(guess) * 6e4;
}
function WhyNot({ name }) {
  let [at, setAt] = d2(route.value.query.get("why") ?? ""), [{ answer, problem }, setSaid] = d2({}), asked3 = T2({}), ask = async () => {
    let t4 = instantOf(at), when = Number.isNaN(t4) ? "" : `?at=${encodeURIComponent(utc(t4))}`, mine = asked3.current = {};
    setSaid(mine), setQuery("why", at);
    let said = await get(`jobs/${encodeURIComponent(name)}/why${when}`).then(
      (answer2) => ({ answer: answer2 }),
      (error) => ({ problem: error.message })
    );
    mine === asked3.current && setSaid(said);
  };
  A2(() => {
    at && ask();
  }, []);
  let mark2 = answer && (MARKS[answer.verdict] ?? "next");
  return k(Panel, { title: "Why, or why not?", more: k("span", { class: "faint" }, zone.value === "utc" ? "UTC" : `${zoneName()} time`) }, k("form", { class: "inline", onSubmit: (event) => {
    event.preventDefault(), ask();
  } }, k("input", { id: "why-at", type: "datetime-local", step: "1", "aria-label": "At which time; empty: the last period that was due", value: at, onInput: (event) => setAt(event.currentTarget.value) }), k("button", { type: "submit" }, "Ask")), k("div", { role: "status" }, problem && k("p", { class: "note" }, plain(problem)), answer && k("div", { class: `why w-${mark2}` }, k(Glyph, { mark: mark2, label: answer.verdict }), " ", k("b", null, sentence(answer.sentence)), " ", sentence(answer.reason)), answer?.instead && k("p", { class: "note" }, sentence(answer.instead)), answer?.entry?.runId && k("p", { class: "note" }, k("a", { class: "in", href: `#/runs/${answer.entry.runId}` }, "The run"))));
}

// src/views/cluster.tsx
var LATE_BEAT = 15, FAR_CLOCK = 1, isRight = (offset2) => Math.abs(offset2) < 2e-3;
function Cluster() {
  A2(() => watch2(runningAsked), []), tickSecond.value;
  let cluster = status.value?.cluster;
  if (!status.value) return k("p", { class: "note" }, "Asking krond…");
  if (!cluster) return k(Panel, { title: "Cluster" }, k("p", { class: "note" }, "This krond works alone: its jobs come from files, and its records are files. ", k("code", null, "krond --redis"), " makes it one of many."));
  let runs = runningAsked.value.value ?? [], hosts = [...cluster.hosts].sort((a4, b4) => a4.host < b4.host ? -1 : 1);
  return k($, null, k("div", { class: "bar" }, k("h1", null, "Cluster"), k("span", { class: "soft" }, counted(hosts.length, "host"), " on ", plain(cluster.redis), ", namespace ", plain(cluster.namespace))), !cluster.linkUp && k("p", { class: "alarm" }, "The link to Redis is down: ", plain(cluster.notReady ?? "krond tries again"), ". This host starts nothing meanwhile."), cluster.draining && k("p", { class: "alarm" }, "This host is draining: it takes no new runs."), cluster.warnings.map((warning) => k("p", { class: `alarm ${warning.severity}` }, timesIn(warning.message))), k("div", { class: "cols" }, k("div", null, k(Panel, { title: "Hosts" }, k("div", { class: "scroll" }, k("table", null, k("thead", null, k("tr", null, k("th", null, "Host"), k("th", null, "State"), k("th", null, "Last heard"), k("th", null, "Clock"), k("th", null, "Running"), k("th", { class: "hide" }, "Address"), k("th", { class: "hide" }, "Version"))), k("tbody", null, hosts.map((host) => {
    let late = host.beatSecondsAgo > LATE_BEAT, off = Math.abs(host.clockOffsetSeconds) > FAR_CLOCK;
    return k("tr", { key: host.instance }, k("td", null, k(Glyph, { mark: late ? "miss" : "ok", label: late ? "not heard of" : "up" }), " ", k("b", null, plain(host.host)), host.instance === cluster.instance ? k("span", { class: "faint" }, " this one") : null), k("td", { class: late ? "c-miss" : "" }, late ? "not heard of" : host.draining ? "draining" : "up"), k("td", { class: "num" }, duration(host.beatSecondsAgo * 1e3), " ago"), k("td", { class: `num ${off ? "c-skip" : ""}` }, isRight(host.clockOffsetSeconds) ? "right" : `off by ${duration(Math.abs(host.clockOffsetSeconds) * 1e3)}`), k("td", { class: "num" }, host.running), k("td", { class: "mono hide" }, plain(host.ip)), k("td", { class: "hide" }, plain(host.version)));
  }))))), k(Panel, { title: "Running", more: k("span", { class: "faint num" }, runs.length), class: "gap" }, runs.length === 0 && k("p", { class: "note" }, "Nothing."), k("ul", { class: "list compact" }, runs.slice(0, 40).map((run) => k("li", { key: run.runId }, k(Glyph, { mark: "run", label: "" }), k("a", { class: "cut", href: `#/runs/${run.runId}` }, k("bdi", null, plain(run.job)), " ", k("span", { class: "faint" }, "on ", plain(run.host ?? ""))), k("span", { class: "num" }, run.startedAt ? counter(now() - Date.parse(run.startedAt)) : "")))))), k("aside", null, k(Panel, { title: "The link" }, k("dl", { class: "kv" }, k("dt", null, "Redis"), k("dd", null, cluster.linkUp ? "answers" : "does not answer"), k("dt", null, "This host"), k("dd", null, plain(cluster.host), " ", k("span", { class: "faint mono" }, plain(cluster.instance))), k("dt", null, "Its clock"), k("dd", { class: "num" }, isRight(cluster.clockOffsetSeconds) ? "right" : `${duration(Math.abs(cluster.clockOffsetSeconds) * 1e3)} ${cluster.clockOffsetSeconds > 0 ? "behind" : "ahead of"} Redis`), k("dt", null, "Zone"), k("dd", null, plain(cluster.timezone)), k("dt", null, "Reconnects"), k("dd", { class: "num" }, cluster.reconnects), k("dt", null, "Lost writes"), k("dd", { class: `num ${cluster.lostWrites > 0 ? "c-fail" : ""}` }, cluster.lostWrites), k("dt", null, "Tasks"), k("dd", null, cluster.tasks === "redis" ? "in Redis" : "in files of each host"))))));
}

// src/ansi.ts
var SEQUENCE = /\u001b(?:\[([0-9;:]*)[ -/]*([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~])?/g, COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"], PLAIN = { bold: !1, dim: !1, italic: !1, underline: !1, colour: "" };
function changed(style, parameters) {
  let next = { ...style }, codes = parameters === "" ? [0] : parameters.split(/[;:]/).map((part) => Number(part) || 0);
  for (let i4 = 0; i4 < codes.length; ++i4) {
    let code = codes[i4];
    if (code === 0) next = { ...PLAIN };
    else if (code === 1) next.bold = !0;
    else if (code === 2) next.dim = !0;
    else if (code === 3) next.italic = !0;
    else if (code === 4) next.underline = !0;
    else if (code === 22) next.bold = next.dim = !1;
    else if (code === 23) next.italic = !1;
    else if (code === 24) next.underline = !1;
    else if (code === 39) next.colour = "";
    else if (code >= 30 && code <= 37) next.colour = COLOURS[code - 30];
    else if (code >= 90 && code <= 97) next.colour = COLOURS[code - 90];
    else if (code === 38 || code === 48) {
      let palette2 = codes[i4 + 1] === 5, number = codes[i4 + 2] ?? 0;
      code === 38 && palette2 && number < 16 && (next.colour = COLOURS[number % 8]), i4 += palette2 ? 2 : codes[i4 + 1] === 2 ? 4 : 0;
    }
  }
  return next;
}
function classes(style) {
  let names = [];
  for (let name of ["bold", "dim", "italic", "underline"]) style[name] && names.push(`t-${name}`);
  return style.colour && names.push(`t-${style.colour}`), names.join(" ");
}
var Terminal = class {
  constructor(take2) {
    this.take = take2;
  }
  take;
  style = { ...PLAIN };
  rest = "";
  feed(text) {
    let all = this.rest + text;
    for (let end = all.indexOf(`
`); end >= 0; end = all.indexOf(`
`))
      this.finish(all.slice(0, end)), all = all.slice(end + 1);
    this.rest = all.length > 2 * 16384 ? all.slice(0, 16384) + all.slice(-16) : all, this.dropped += all.length - this.rest.length;
  }
  // What has no end yet.
  get open() {
    return this.read(this.rest.slice(0, 16384), { ...this.style }).line;
  }
  end() {
    this.rest !== "" && this.finish(this.rest), this.rest = "";
  }
  dropped = 0;
  finish(text) {
    let cut2 = this.dropped + Math.max(0, text.length - 16384);
    this.dropped = 0;
    let { line, style } = this.read(text.slice(0, 16384), this.style);
    this.style = style, this.take(line, cut2);
  }
  read(text, from) {
    let style = from, line = [], add = (part) => {
      let trimmed = part.replace(/\r+$/, ""), back = trimmed.lastIndexOf("\r");
      back >= 0 && (line = []);
      let shown = clean(back >= 0 ? trimmed.slice(back + 1) : trimmed);
      shown !== "" && line.push({ text: shown, style: classes(style) });
    }, at = 0;
    for (let found of text.matchAll(SEQUENCE))
      add(text.slice(at, found.index)), at = found.index + found[0].length, found[2] === "m" && (style = changed(style, found[1] ?? ""));
    return add(text.slice(at)), { line, style };
  }
}, CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
function clean(text) {
  return text.replace(CONTROL, (c4) => c4 === "\b" ? "" : `⟨U+${c4.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

// src/output.ts
var MOST_BYTES = 2 << 20, FAST = 5e6, FAST_TAIL = 262144, FAST_PAUSE = 500, RETRY = 1e3, SHOW_PAUSE = 80, SLICE = 12, LINE_COST = 24, CUT = ` bytes cut here]
`, NO_LINE = { number: 0, pieces: [], cut: 0 }, sizeOf = (line) => line.pieces.reduce((sum, piece) => sum + piece.text.length, LINE_COST), wait = (pause2) => new Promise((resolve) => setTimeout(resolve, pause2)), Output = class {
  constructor(runId) {
    this.runId = runId;
    this.follow();
  }
  runId;
  lines = y3([]);
  open = y3([]);
  state = y3("asking");
  skipped = y3(0);
  // bytes before the first line that is kept
  isFast = y3(!1);
  problem = y3("");
  kept = [];
  first = 0;
  // of the kept that is not dropped yet
  size = 0;
  count = 0;
  missed = 0;
  // bytes before the first of the kept
  at = NaN;
  // the next byte to come, counted as the run wrote them; NaN: not known
  dirty = 0;
  decoder = new TextDecoder();
  terminal = new Terminal(() => {
  });
  stop = new AbortController();
  close() {
    this.stop.abort(), clearTimeout(this.dirty);
  }
  add(pieces, cut2) {
    let line = { number: ++this.count, pieces, cut: cut2 }, [, left] = pieces.length === 1 ? /^\[kron: (\d+) bytes cut here]$/.exec(pieces[0].text) ?? [] : [];
    for (this.missed += Number(left ?? 0), this.kept.push(line), this.size += sizeOf(line); this.size > MOST_BYTES && this.first < this.kept.length - 1; ) {
      let old = this.kept[this.first];
      this.kept[this.first++] = NO_LINE, this.size -= sizeOf(old), this.missed += sizeOf(old) - LINE_COST + old.cut + 1;
    }
    this.first > 1e3 && this.first > this.kept.length / 2 && (this.kept = this.kept.slice(this.first), this.first = 0);
  }
  show() {
    this.dirty ||= window.setTimeout(() => {
      this.dirty = 0, this.lines.value = this.kept.slice(this.first), this.open.value = this.terminal.open, this.skipped.value = this.missed;
    }, SHOW_PAUSE);
  }
  // Until the run has ended and all of it is here; krond's absence is waited out.
  async follow() {
    for (; !this.stop.signal.aborted; )
      try {
        if (await (this.isFast.value ? this.readEnd() : this.read())) break;
      } catch (error) {
        if (this.stop.signal.aborted) return;
        if (this.problem.value = error instanceof ApiError ? error.problem.detail : "The connection broke off.", error instanceof ApiError && !error.isAway) {
          this.state.value = "ended";
          return;
        }
        this.state.value = "away", await wait(RETRY);
      }
    this.terminal.end(), this.show(), this.state.value = "ended";
  }
  // What is here goes on where the answer begins, or is forgotten. A host that does not say where gives all of it.
  async ask(query, stop) {
    let response = await open(`runs/${this.runId}/output?${query}`, { signal: stop }), first2 = response.headers.get("Kron-Output-First");
    return (first2 === null || Number(first2) !== this.at) && ([this.kept, this.first, this.size, this.missed] = [[], 0, 0, Number(first2)], this.terminal = new Terminal((pieces, cut2) => this.add(pieces, cut2)), this.decoder = new TextDecoder()), this.at = first2 === null ? NaN : Number(first2), this.state.value = "following", this.problem.value = "", response;
  }
  take(bytes2) {
    let text = this.decoder.decode(bytes2, { stream: !0 });
    this.at = text.includes(CUT) ? NaN : this.at + bytes2.length, this.terminal.feed(text), this.show();
  }
  // Whether that was all of it.
  async read() {
    let mine = new AbortController(), reader = (await this.ask(`follow=true&tail=${MOST_BYTES}${this.at >= 0 ? `&from=${this.at}` : ""}`, AbortSignal.any([this.stop.signal, mine.signal]))).body.getReader(), [begun, fresh, turn] = [performance.now(), -MOST_BYTES, performance.now()];
    for (; ; ) {
      let { done, value } = await reader.read();
      if (done) return !0;
      if (this.take(value), fresh += value.length, fresh > FAST && this.at >= 0)
        return this.isFast.value = !0, mine.abort(), !1;
      let time = performance.now();
      time - begun > 1e3 && ([begun, fresh] = [time, Math.min(fresh, 0)]), !(time - turn < SLICE) && (await wait(0), turn = performance.now());
    }
  }
  // The end of what there is now.
  async readEnd() {
    let before = this.at;
    await wait(FAST_PAUSE);
    let response = await this.ask(`tail=${FAST_TAIL}`, this.stop.signal);
    return this.take(new Uint8Array(await response.arrayBuffer())), this.isFast.value = this.at >= 0 && !(this.at - before < FAST * FAST_PAUSE / 1e3), !1;
  }
};
async function linesOf(runId, mostBytes) {
  let response = await open(`runs/${runId}/output`, { headers: { Range: `bytes=-${mostBytes}` } }), lines = [], terminal = new Terminal((line) => lines.push(line.map((piece) => piece.text).join("")));
  return terminal.feed(await response.text()), terminal.end(), lines;
}

// src/strip.tsx
var MARKS2 = { "+": "ok", x: "fail", t: "fail", "?": "unknown", s: "skip", m: "miss", n: "none", o: "over", r: "run" }, TALL = { ok: [4, 8], run: [4, 8], over: [7, 2], skip: [6, 4], fail: [1, 14], unknown: [1, 14], miss: [1, 14], none: [1, 14] };
function Outcomes({ letters }) {
  if (letters === void 0) return null;
  if (letters === null) return k("span", { class: "faint", title: "krond is still reading the record" }, "·");
  if (letters === "") return null;
  let marks = [...letters].map((letter) => MARKS2[letter] ?? "unknown"), counts = /* @__PURE__ */ new Map();
  for (let mark2 of marks) counts.set(mark2, (counts.get(mark2) ?? 0) + 1);
  let label = `Last ${marks.length}: ${[...counts].map(([mark2, count]) => `${count} ${MARK_WORDS[mark2]}`).join(", ")}`;
  return k("svg", { class: "strip", width: marks.length * 6, viewBox: `0 0 ${marks.length * 6} 16`, role: "img", "aria-label": label }, k("title", null, label), marks.map((mark2, i4) => k("rect", { x: i4 * 6, y: TALL[mark2][0], width: "4", height: TALL[mark2][1], rx: "1.5", fill: `var(--${mark2 === "unknown" ? "fail" : mark2})` })));
}

// src/draw/scale.ts
var Scale = class {
  constructor(from, until, left, right) {
    this.from = from;
    this.until = until;
    this.left = left;
    this.right = right;
  }
  from;
  until;
  left;
  right;
  x(t4) {
    return this.left + (t4 - this.from) / (this.until - this.from) * (this.right - this.left);
  }
  t(x3) {
    return this.from + (x3 - this.left) / (this.right - this.left) * (this.until - this.from);
  }
}, MINUTE = 6e4, STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080].map((minutes) => minutes * MINUTE);
function ticks(scale, apart = 68) {
  let wanted2 = (scale.until - scale.from) / (scale.right - scale.left) * apart, step2 = STEPS.find((candidate) => candidate >= wanted2) ?? STEPS[STEPS.length - 1], found = [], stride = Math.min(step2, 15 * MINUTE);
  for (let t4 = Math.ceil(scale.from / stride) * stride; t4 <= scale.until; t4 += stride) {
    let label = clock(t4);
    if ((Number(label.slice(0, 2)) * 60 + Number(label.slice(3))) % Math.min(step2 / MINUTE, 1440) !== 0) continue;
    let isDay = isMidnight(t4);
    if (step2 >= 1440 * MINUTE && !isDay) continue;
    let last2 = found[found.length - 1];
    last2 && scale.x(t4) - scale.x(last2.t) < apart * 0.6 || found.push({ t: t4, label: isDay ? day(t4) : label, isDay });
  }
  return found;
}
function roundUp(value) {
  if (value <= 1) return 1;
  let ten = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * ten).find((candidate) => candidate >= value);
}
function roundDown(value) {
  if (value <= 1) return 1;
  let ten = 10 ** Math.floor(Math.log10(value));
  return [5, 2, 1].map((factor) => factor * ten).find((candidate) => candidate <= value);
}

// src/views/job_next.tsx
var HEIGHT = 158, BASE = 118, TOP = 24;
function useExplanation(name, periodId) {
  let [told, setTold] = d2(null);
  return A2(() => {
    if (!periodId) return;
    let mine = new AbortController();
    return get(`jobs/${encodeURIComponent(name)}/explain?period=${encodeURIComponent(periodId)}`, mine.signal).then(setTold).catch(() => {
    }), () => mine.abort();
  }, [name, periodId]), told?.periodId === periodId ? told : null;
}
function NextPeriod({ decisions, name }) {
  let [at, setAt] = d2(0), decision = decisions[Math.min(at, decisions.length - 1)], told = useExplanation(name, decision?.periodId);
  tickSecond.value;
  let draw2 = b((width) => explainShapes(decision, told, width), [decision?.periodId, told, zone.value]);
  if (!decision) return null;
  let chosen = decision.chosenTime ? Date.parse(decision.chosenTime) : null, isPoint = decision.windowStart === decision.windowEnd && chosen !== null, command = `kron explain ${/^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`} --period ${decision.periodId}`, words = chosen === null ? `No time in the window is allowed: ${decision.reason}` : `The window from ${moment(Date.parse(decision.windowStart))} to ${moment(Date.parse(decision.windowEnd))}; ${seconds(chosen)} was chosen, at draw ${decision.attempts}`;
  return k(
    Panel,
    {
      title: k($, null, k("h2", { id: "explain", tabIndex: -1 }, day(Date.parse(decision.nominalTime))), k("span", { class: "num" }, chosen === null ? k("b", { class: "c-none" }, "no time") : k($, null, k("b", { class: "after" }, seconds(chosen)), " ", k("span", { class: "faint" }, relative(chosen))))),
      label: "Next period",
      more: k($, null, k("span", { class: "soft hide" }, "Why this second?"), k("span", { class: "seg", role: "group", "aria-label": "Period" }, k("button", { type: "button", "aria-label": "Earlier period", disabled: at === 0, onClick: () => setAt(at - 1) }, "‹"), k("button", { type: "button", "aria-label": "Later period", disabled: at >= decisions.length - 1, onClick: () => setAt(at + 1) }, "›")))
    },
    !isPoint && k(Canvas, { draw: draw2, label: words }),
    k("div", { class: "facts soft" }, isPoint && k("span", null, "no window: it runs as written"), told && !isPoint && k("span", null, k("b", { class: "num" }, percent(told.allowedShare)), " of the window is allowed"), told && !isPoint && told.chanceUnschedulable > 1e-6 && k("span", { class: "c-none" }, oneIn(told.chanceUnschedulable), " finds no time"), decision.attempts > 1 && k("span", null, k("b", { class: "num" }, decision.attempts), " draws"), decision.reason && k("span", null, plain(decision.reason)), told?.dstEffect && k("span", { class: "c-skip" }, dstWords(told.dstEffect)), k("span", null, "seed ", k("code", null, decision.seedHash.slice(0, 8), "…")), k("button", { type: "button", class: "quiet", onClick: () => {
      navigator.clipboard.writeText(command).then(() => say("Copied."));
    } }, "Copy as kron explain")),
    told && told.draws.length > 1 && k("details", { class: "facts" }, k("summary", null, "Every draw"), k("ol", { class: "num" }, told.draws.slice(0, 64).map((one) => k("li", null, moment(Date.parse(one.candidate)), " ", one.allowed ? "taken" : `refused by ${plain(one.refusedBy)}`))))
  );
}
var percent = (share) => share > 0 && share < 1e-3 ? "less than 0.1 %" : `${+(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
function oneIn(chance) {
  return chance >= 1 ? "every period" : `1 period in ${Math.max(2, Math.round(1 / chance)).toLocaleString("en-US")}`;
}
function dstWords(effect) {
  return effect.kind === "moved" ? `the clock jumps over ${effect.wallClock}: it is ${moment(Date.parse(effect.first))}` : `${effect.wallClock} comes twice: ${seconds(Date.parse(effect.first))} and ${seconds(Date.parse(effect.second))}`;
}
function explainShapes(decision, told, width) {
  let shapes = [], spots = [];
  if (!decision) return { shapes, spots, height: HEIGHT };
  let start = Date.parse(decision.windowStart), end = Date.parse(decision.windowEnd), scale = new Scale(start, Math.max(end, start + 1e3), 20, width - 20);
  if (shapes.push({ kind: "rect", x: scale.left, y: BASE - 4, w: scale.right - scale.left, h: 4, r: 2, fill: "win" }), told) {
    let most = Math.max(1e-4, ...told.buckets.map((bucket) => bucket.share)), wide = (scale.right - scale.left) / told.buckets.length;
    told.buckets.forEach((bucket, i4) => {
      let tall = bucket.share / most * (BASE - TOP - 22);
      tall > 0 && shapes.push({ kind: "rect", x: scale.left + i4 * wide + 0.7, y: BASE - Math.max(2, tall), w: wide - 1.4, h: Math.max(2, tall), r: 1.5, fill: "after", opacity: 0.12 + 0.2 * bucket.allowed });
    });
    for (let [from, until] of refusedSpans(told, start, end)) {
      let [x3, w5] = [scale.x(from), Math.max(1, scale.x(until) - scale.x(from))];
      shapes.push({ kind: "hatch", x: x3, y: TOP + 8, w: w5, h: BASE - TOP - 8, stroke: "none" }), w5 > 90 && shapes.push({ kind: "text", x: x3 + w5 / 2, y: TOP + 22, text: `not ${clock(from)}–${clock(until)}`, fill: "none", align: "center" }), spots.push({ x: x3, y: TOP, w: w5, h: BASE - TOP, lines: () => ["refused", `${clock(from)}–${clock(until)}`] });
    }
    drawDraws(told, scale, shapes, spots);
  }
  for (let tick of ticks(scale, 80)) {
    let x3 = scale.x(tick.t);
    shapes.push({ kind: "line", x1: x3, y1: BASE, x2: x3, y2: BASE + 4, stroke: "line" }), shapes.push({ kind: "text", x: Math.min(Math.max(x3, scale.left + 14), scale.right - 14), y: BASE + 17, text: tick.label, fill: "faint", align: "center" });
  }
  shapes.push({ kind: "line", x1: scale.left, y1: BASE, x2: scale.right, y2: BASE, stroke: "line" });
  let nominal = scale.x(Date.parse(decision.nominalTime));
  if (nominal >= scale.left - 1 && nominal <= scale.right + 1 && shapes.push({ kind: "circle", x: nominal, y: BASE, r: 3, fill: "before" }), decision.chosenTime) {
    let t4 = Date.parse(decision.chosenTime), x3 = scale.x(t4);
    shapes.push({ kind: "rect", x: x3 - 1.5, y: TOP, w: 3, h: BASE - TOP, r: 1.5, fill: "after" }), shapes.push({ kind: "circle", x: x3, y: TOP, r: 9, fill: "after" }), shapes.push({ kind: "text", x: x3, y: TOP + 4, text: String(Math.max(1, decision.attempts)), fill: "panel", align: "center", weight: 650 });
    let flips = x3 > scale.right - 80;
    shapes.push({ kind: "text", x: flips ? x3 - 15 : x3 + 15, y: TOP + 5, text: seconds(t4), fill: "ink", align: flips ? "right" : "left", weight: 650, size: 13 }), spots.push({ x: x3 - 9, y: TOP - 9, w: 18, h: BASE - TOP + 9, lines: () => [seconds(t4), utc(t4), `draw ${decision.attempts}`] });
  }
  return { shapes, spots, height: HEIGHT };
}
function refusedSpans(told, start, end) {
  let found = [], at = start;
  for (let span2 of told.allowedSpans) {
    let from = Date.parse(span2.from);
    from > at && found.push([at, from]), at = Math.max(at, Date.parse(span2.to) + 1e3);
  }
  return at < end && found.push([at, end]), found;
}
function drawDraws(told, scale, shapes, spots) {
  told.draws.slice(0, 12).forEach((one, i4) => {
    if (one.allowed) return;
    let x3 = scale.x(Date.parse(one.candidate)), y5 = TOP + 34 + i4 % 3 * 16;
    shapes.push({ kind: "line", x1: x3, y1: y5 + 8, x2: x3, y2: BASE, stroke: "none", dash: !0 }), shapes.push({ kind: "circle", x: x3, y: y5, r: 8, fill: "panel", stroke: "none" }), shapes.push({ kind: "text", x: x3, y: y5 + 4, text: String(i4 + 1), fill: "none", align: "center", size: 10 }), spots.push({ x: x3 - 8, y: y5 - 8, w: 16, h: 16, lines: () => [`draw ${i4 + 1}: ${seconds(Date.parse(one.candidate))}`, `refused by ${plain(one.refusedBy)}`] });
  });
}
function Coming({ decisions, isKnown }) {
  let first2 = decisions[0], length = first2 ? Date.parse(first2.windowEnd) - Date.parse(first2.windowStart) : 0;
  return k(Panel, { title: "Coming", more: length > 0 ? k("span", { class: "soft" }, "windows of ", duration(length)) : null }, k("table", null, k("tbody", null, decisions.slice(0, 10).map((decision) => {
    let start = Date.parse(decision.windowStart), end = Date.parse(decision.windowEnd), chosen = decision.chosenTime ? Date.parse(decision.chosenTime) : null, u4 = chosen === null || end <= start ? 0 : (chosen - start) / (end - start);
    return k("tr", null, k("td", null, day(chosen ?? start)), k("td", { class: "num" }, chosen === null ? k("span", { class: "c-none" }, k(Glyph, { mark: "none", label: "" }), " no time, known already") : k("b", { title: utc(chosen) }, seconds(chosen))), k("td", { class: "wide" }, end > start && chosen !== null && k("svg", { class: "place", viewBox: "0 0 200 14", preserveAspectRatio: "none", "aria-hidden": "true" }, k("rect", { y: "3", width: "200", height: "8", rx: "4", fill: "var(--win)" }), k("rect", { x: u4 * 197, width: "3", height: "14", rx: "1.2", fill: "var(--after)" }))));
  }))), isKnown && decisions.length === 0 && k("p", { class: "note" }, "Nothing that a clock foresees."));
}

// src/views/job_past.tsx
function pointsOf(runs) {
  return runs.flatMap((run) => {
    let took = tookOf(run);
    return run.startedAt && took !== void 0 ? [{ mark: markOf(run), took, at: Date.parse(run.startedAt) }] : [];
  });
}
function trendOf(points) {
  let good = points.filter((point) => point.mark === "ok");
  if (good.length < 10) return null;
  let day2 = 864e5, meanX = good.reduce((sum, point) => sum + point.at / day2, 0) / good.length, meanY = good.reduce((sum, point) => sum + point.took, 0) / good.length, [xy, xx, yy] = [0, 0, 0];
  for (let point of good) {
    let [dx, dy] = [point.at / day2 - meanX, point.took - meanY];
    xy += dx * dy, xx += dx * dx, yy += dy * dy;
  }
  return xx === 0 || yy === 0 || xy * xy / (xx * yy) < 0.5 ? null : xy / xx;
}
var [HEIGHT2, LEFT, BASE2] = [176, 60, 150];
function Durations({ runs, usual, limit }) {
  let points = pointsOf(runs), trend = trendOf(points), draw2 = b((width) => durationShapes(points, usual, limit, trend, width), [runs, usual, limit, zone.value]), grows = trend === null || usual === null || Math.abs(trend) < usual / 1e3 ? "" : trend > 0 ? `, growing by ${duration(trend * 1e3)} a day` : `, shrinking by ${duration(-trend * 1e3)} a day`;
  return k(Panel, { title: "How long it takes", more: usual !== null ? k("span", { class: "soft" }, "usually ", k("b", { class: "num" }, duration(usual * 1e3)), grows) : null }, points.length === 0 ? k("p", { class: "note" }, "Nobody knows yet.") : k(Canvas, { draw: draw2, label: `Durations of the last ${points.length} runs${usual === null ? "" : `, usually ${duration(usual * 1e3)}`}${grows}` }));
}
function durationShapes(points, usual, limit, trend, width) {
  let shapes = [], spots = [], right = width - 14, most = Math.max(1e-3, usual ?? 0, ...points.map((point) => point.took)), top = limit && limit < most * 3 ? Math.max(limit * 1.1, most) : most < 1 ? most * 1.2 : roundUp(most), x3 = (i4) => LEFT + 6 + (points.length < 2 ? 0.5 : i4 / (points.length - 1)) * (right - LEFT - 12), y5 = (s4) => BASE2 - s4 / top * (BASE2 - 16);
  for (let part of [0, 0.5, 1]) {
    let at = Math.round(y5(top * part)) + 0.5;
    shapes.push({ kind: "line", x1: LEFT, y1: at, x2: right, y2: at, stroke: "hair" }), shapes.push({ kind: "text", x: LEFT - 8, y: at + 4, text: part === 0 ? "0" : duration(top * part * 1e3), fill: "faint", align: "right", most: LEFT - 10 });
  }
  limit && limit <= top && (shapes.push({ kind: "line", x1: LEFT, y1: y5(limit), x2: right, y2: y5(limit), stroke: "fail", dash: !0 }), shapes.push({ kind: "text", x: right, y: y5(limit) - 5, text: `ended after ${duration(limit * 1e3)}`, fill: "fail", align: "right" })), points.forEach((point, i4) => {
    point.mark === "ok" ? shapes.push({ kind: "circle", x: x3(i4), y: y5(point.took), r: 2.6, fill: "ok" }) : shapes.push({ kind: "glyph", x: x3(i4), y: y5(point.took), mark: point.mark }), spots.push({ x: x3(i4) - 4, y: y5(point.took) - 5, w: 8, h: 10, lines: () => [moment(point.at), `${MARK_WORDS[point.mark]}, took ${duration(point.took * 1e3)}`] });
  });
  let first2 = points[0], last2 = points[points.length - 1];
  if (first2 && last2 && trend !== null && last2.at > first2.at) {
    let good = points.filter((point) => point.mark === "ok"), mean = good.reduce((sum, point) => sum + point.took, 0) / good.length, middle = good.reduce((sum, point) => sum + point.at, 0) / good.length, line = (t4) => Math.max(0, mean + trend * (t4 - middle) / 864e5);
    shapes.push({ kind: "line", x1: x3(0), y1: y5(line(first2.at)), x2: x3(points.length - 1), y2: y5(line(last2.at)), stroke: "after", width: 1.4 });
  } else usual !== null && shapes.push({ kind: "line", x1: LEFT, y1: y5(usual), x2: right, y2: y5(usual), stroke: "after", opacity: 0.7, width: 1.4 });
  return points.length > 1 && (shapes.push({ kind: "text", x: LEFT, y: HEIGHT2 - 8, text: moment(first2.at), fill: "faint" }), shapes.push({ kind: "text", x: right, y: HEIGHT2 - 8, text: moment(last2.at), fill: "faint", align: "right" })), { shapes, spots, height: HEIGHT2 };
}
var DAY = 864e5, WEEKS = 53, WORST = [["x", "fail"], ["t", "fail"], ["?", "unknown"], ["m", "miss"], ["n", "none"], ["s", "skip"], ["o", "over"], ["+", "ok"], ["r", "run"]];
function worstOf(counts) {
  return WORST.find(([letter]) => (counts[letter] ?? 0) > 0)?.[1] ?? null;
}
function Year({ days }) {
  let draw2 = b((width) => yearShapes(days, width, now()), [days]);
  if (!days || days.days.length === 0) return null;
  let totals = /* @__PURE__ */ new Map();
  for (let day2 of days.days) for (let [letter, mark2] of WORST) totals.set(mark2, (totals.get(mark2) ?? 0) + (day2.counts[letter] ?? 0));
  let told = [...totals].filter(([mark2, count]) => count > 0 && mark2 !== "run"), words = told.map(([mark2, count]) => `${count.toLocaleString("en-US")} ${MARK_WORDS[mark2]}`);
  return k(Panel, { title: "A year", class: "gap", more: k("span", { class: "faint hide" }, "a day's worst counts · days of UTC") }, k("div", { class: "facts" }, told.map(([mark2, count]) => k("span", null, k(Glyph, { mark: mark2, label: "" }), " ", count.toLocaleString("en-US"), " ", MARK_WORDS[mark2]))), k(Canvas, { draw: draw2, label: `A year by days: ${words.join(", ")}` }));
}
var MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
function yearShapes(days, width, at) {
  let shapes = [], spots = [], cell = Math.max(4, Math.min(18, (width - 44 - 14) / WEEKS)), weeks = Math.min(WEEKS, Math.floor((width - 44 - 14) / cell)), top = 20, known = new Map((days?.days ?? []).map((day2) => [day2.day, day2])), today = Math.floor(at / DAY) * DAY, monday = today - (new Date(today).getUTCDay() + 6) % 7 * DAY, month = -1;
  for (let week = 0; week < weeks; ++week) {
    let first2 = monday - (weeks - 1 - week) * 7 * DAY, x3 = 44 + week * cell;
    new Date(first2).getUTCMonth() !== month && (month = new Date(first2).getUTCMonth(), week > 0 && week < weeks - 1 && shapes.push({ kind: "text", x: x3, y: 12, text: MONTHS[month], fill: "faint" }));
    for (let row = 0; row < 7; ++row) {
      let t4 = first2 + row * DAY;
      if (t4 > today) break;
      let key = new Date(t4).toISOString().slice(0, 10), day2 = known.get(key), mark2 = day2 ? worstOf(day2.counts) : null, fill = mark2 === null ? "hair" : mark2 === "unknown" ? "fail" : mark2, gap = Math.min(2, cell / 6);
      shapes.push({ kind: "rect", x: x3, y: top + row * cell, w: cell - gap, h: cell - gap, r: 2.5, fill, ...mark2 === "ok" ? { opacity: 0.75 } : {} }), mark2 && mark2 !== "ok" && mark2 !== "over" && mark2 !== "run" && cell >= 10 && shapes.push({ kind: "circle", x: x3 + (cell - gap) / 2, y: top + row * cell + (cell - gap) / 2, r: 2, fill: "panel" }), day2 && spots.push({ x: x3, y: top + row * cell, w: cell, h: cell, lines: () => [key, ...WORST.filter(([letter]) => (day2.counts[letter] ?? 0) > 0).map(([letter, what]) => `${day2.counts[letter]} ${MARK_WORDS[what]}`), ...day2.runs > 0 ? [`${counted(day2.runs, "run")}, at most ${duration(day2.maxSeconds * 1e3)}`] : []] });
    }
  }
  return ["Mon", "", "Wed", "", "Fri"].forEach((text, row) => text && shapes.push({ kind: "text", x: 14, y: top + row * cell + cell * 0.7, text, fill: "faint" })), { shapes, spots, height: top + 7 * cell + 8 };
}

// src/views/jobs.tsx
var ROW = 32;
function matcher(text) {
  let tests = text.toLowerCase().split(/\s+/).filter(Boolean).map((word2) => {
    switch (word2) {
      case "is:failing":
      case "is:failed":
        return isFailing;
      case "is:paused":
        return (job) => job.paused !== null;
      case "is:suspended":
        return (job) => job.suspended;
      case "is:running":
        return (job) => job.running > 0;
      case "is:task":
        return (job) => job.task !== void 0;
      case "is:fine":
        return (job) => !isFailing(job) && !job.paused && !job.suspended;
      default:
        return byName(word2);
    }
  });
  return (job) => tests.every((test) => test(job));
}
function byName(word2) {
  if (word2.includes("*")) {
    let pattern = new RegExp(`^${word2.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`);
    return (job) => pattern.test(job.identity.toLowerCase());
  }
  return word2.endsWith("/") ? (job) => job.identity.toLowerCase().startsWith(word2) : (job) => job.identity.toLowerCase().includes(word2) || (job.description ?? "").toLowerCase().includes(word2);
}
var far = "9999", SORTS = {
  name: (a4, b4) => a4.identity < b4.identity ? -1 : a4.identity > b4.identity ? 1 : 0,
  next: (a4, b4) => (a4.next?.startsAt ?? far) < (b4.next?.startsAt ?? far) ? -1 : 1,
  last: (a4, b4) => lastTime(b4) < lastTime(a4) ? -1 : 1,
  state: (a4, b4) => rank(a4) - rank(b4),
  usual: (a4, b4) => (b4.usualSeconds ?? -1) - (a4.usualSeconds ?? -1)
};
function lastTime(job) {
  return job.last?.startedAt ?? job.last?.chosenTime ?? job.last?.periodId ?? "";
}
function rank(job) {
  return isFailing(job) ? 0 : job.running > 0 ? 1 : job.paused ? 2 : job.suspended ? 3 : 4;
}
function Jobs() {
  let query = route.value.query.get("q") ?? "", sort = route.value.query.get("sort") ?? "name", [selected, setSelected] = d2(/* @__PURE__ */ new Set()), [cursor, setCursor] = d2(-1), [top, setTop] = d2(0), [height, setHeight] = d2(800), box = T2(null);
  A2(() => {
    ++watchesJobs.value, loadJobs();
    let look = () => setHeight(innerHeight);
    return addEventListener("resize", look), look(), () => {
      --watchesJobs.value, removeEventListener("resize", look);
    };
  }, []);
  let rows = w2(() => [...jobs.value.values()].filter(matcher(query)).sort(SORTS[sort] ?? SORTS.name), [jobs.value, query, sort]);
  A2(() => {
    if (!isServerFiltered.value) return;
    let timer = setTimeout(() => filterByServer(query), 300);
    return () => clearTimeout(timer);
  }, [query, isServerFiltered.value]);
  let first2 = Math.max(0, Math.floor(top / ROW) - 6), shown = rows.slice(first2, first2 + Math.ceil(height / ROW) + 12);
  inSight.names = new Set(shown.map((job) => job.identity));
  let latest = T2({ rows, cursor, selected });
  latest.current = { rows, cursor, selected }, A2(() => {
    let keyed = (event) => {
      let { rows: rows2, cursor: cursor2, selected: selected2 } = latest.current;
      if (event.target instanceof HTMLInputElement || event.metaKey || event.ctrlKey || document.querySelector("dialog[open]")) return;
      let move = event.key === "j" ? 1 : event.key === "k" ? -1 : 0, job = rows2[cursor2];
      if (move !== 0) {
        let next = Math.min(rows2.length - 1, Math.max(0, cursor2 + move));
        setCursor(next);
        let at = next * ROW, view = box.current;
        at < view.scrollTop ? view.scrollTop = at : at > view.scrollTop + view.clientHeight - 2 * ROW && (view.scrollTop = at - view.clientHeight + 2 * ROW);
      } else if (event.key === "Enter" && job && (event.target === document.body || event.target === box.current)) go(`/jobs/${encodeURIComponent(job.identity)}`);
      else if (event.key === "x" && job) toggle2(job.identity);
      else if (event.key === "X") selectAll();
      else if (event.key === "r" && job) runNow(job.identity);
      else if (event.key === "Escape" && selected2.size > 0) setSelected(/* @__PURE__ */ new Set());
      else if (event.key === "p" && (selected2.size > 0 || job)) pause(selected2.size > 0 ? [...selected2] : [job.identity]);
      else return;
      event.preventDefault();
    };
    return addEventListener("keydown", keyed), () => removeEventListener("keydown", keyed);
  }, []);
  let toggle2 = (name) => {
    let next = new Set(latest.current.selected);
    next.delete(name) || next.add(name), setSelected(next);
  }, selectAll = () => {
    let { rows: rows2, selected: selected2 } = latest.current;
    setSelected(selected2.size === rows2.length ? /* @__PURE__ */ new Set() : new Set(rows2.map((job) => job.identity)));
  }, header = (key, text, extra = "") => k("span", { class: extra, role: "columnheader", "aria-sort": sort === key ? "ascending" : "none" }, k("button", { type: "button", class: "sort", onClick: () => setQuery("sort", key === "name" ? "" : key) }, text, sort === key ? " ▾" : ""));
  return k($, null, k("div", { class: "bar" }, k("h1", null, "Jobs"), k("span", { class: "soft num" }, query ? `${rows.length.toLocaleString("en-US")} of ${jobs.value.size.toLocaleString("en-US")}` : jobs.value.size.toLocaleString("en-US"), jobsComplete.value ? "" : " …"), isServerFiltered.value && k("span", { class: "soft" }, "There are more than this page keeps: krond looks for what you type."), k("input", { id: "filter", type: "search", placeholder: "Filter: words, team/, is:failing is:paused is:running", "aria-label": "Filter", value: query, onInput: (event) => setQuery("q", event.currentTarget.value) }), k("span", { class: "grow" }), selected.size > 0 && k($, null, k("span", { class: "soft" }, counted(selected.size, "job"), " selected"), k("button", { type: "button", onClick: () => pause([...selected]) }, "Pause…"), k("button", { type: "button", onClick: () => resumeJobs([...selected]) }, "Resume…"), k("button", { type: "button", class: "quiet", onClick: () => setSelected(/* @__PURE__ */ new Set()) }, "Clear"))), k("section", { class: "panel rows", "aria-label": "All jobs" }, k("div", { class: "table", role: "table", "aria-rowcount": rows.length }, k("div", { class: "row heads", role: "row" }, k("span", { role: "columnheader" }, k("input", { type: "checkbox", "aria-label": "Select all that are shown", checked: rows.length > 0 && selected.size === rows.length, onChange: selectAll })), header("state", "State"), header("name", "Name"), k("span", { role: "columnheader", class: "hide" }, "Last 20"), k("span", { role: "columnheader", class: "hide" }, "Schedule"), header("usual", "Usually", "hide"), header("next", "Next"), header("last", "Last", "hide")), k("div", { class: "view", ref: box, role: "rowgroup", tabIndex: 0, onScroll: (event) => setTop(event.currentTarget.scrollTop) }, k("div", { class: "all", style: { height: `${Math.max(1, rows.length) * ROW}px` }, role: "presentation" }, shown.map((job, i4) => k("div", { class: `row ${first2 + i4 === cursor ? "at" : ""}`, role: "row", "aria-rowindex": first2 + i4 + 1, key: job.identity, style: { top: `${(first2 + i4) * ROW}px` } }, k("span", { role: "cell" }, k("input", { type: "checkbox", "aria-label": `Select ${plain(job.identity)}`, checked: selected.has(job.identity), onChange: () => toggle2(job.identity) })), k("span", { role: "cell" }, k(State, { job })), k("span", { role: "cell", class: "cut" }, k(Name, { of: job.identity }), job.description ? k("span", { class: "faint" }, " ", plain(job.description)) : null), k("span", { role: "cell", class: "hide" }, k(Outcomes, { letters: job.outcomes })), k("span", { role: "cell", class: "mono cut hide" }, plain(job.schedule)), k("span", { role: "cell", class: "num cut hide" }, job.usualSeconds ? duration(job.usualSeconds * 1e3) : ""), k("span", { role: "cell", class: "num cut" }, job.next ? k(Time, { at: job.next.startsAt }) : k("span", { class: "faint" }, "never")), k("span", { role: "cell", class: "num cut hide" }, job.last && lastTime(job) ? k("a", { href: job.last.runId ? `#/runs/${job.last.runId}` : `#/jobs/${encodeURIComponent(job.identity)}` }, k(Time, { at: lastTime(job) })) : k("span", { class: "faint" }, "not yet"))))))), rows.length === 0 && jobsComplete.value && k("p", { class: "note" }, query ? "No job is like that." : "There are no jobs yet. This page edits none: write one into a file, then reload.")));
}
function State({ job }) {
  let mark2 = job.last ? markOf(job.last) : null;
  return job.running > 0 ? k("span", { class: "state" }, k(Glyph, { mark: "run", label: "" }), " running", job.waiting ? `, and waits for ${plain(awaited(job.waiting))}` : "") : job.paused ? k("span", { class: "state" }, k(Glyph, { mark: "pause" }), " paused") : job.suspended ? k("span", { class: "state" }, k(Glyph, { mark: "pause" }), " suspended") : job.waiting ? k("span", { class: "state c-skip" }, k(Glyph, { mark: "next", label: "" }), " waits for ", plain(awaited(job.waiting))) : mark2 && mark2 !== "ok" ? k("span", { class: `state c-${mark2}` }, k(Glyph, { mark: mark2, label: "" }), " ", mark2 === "fail" ? "failed" : mark2 === "miss" ? "missed" : mark2 === "none" ? "no time" : mark2 === "skip" ? "skipped" : mark2 === "over" ? "passed over" : "unknown") : k("span", { class: "state faint" }, k(Glyph, { mark: mark2 ? "ok" : "next", label: "" }), " ", mark2 ? "fine" : "waiting");
}

// src/views/runs.tsx
var older = y3({ runs: [], next: void 0 });
function path(before) {
  let { query } = route.value, what = query.get("show") ?? "all", parts = ["limit=100"];
  what === "failed" && parts.push("result=failed"), what === "running" && parts.push("result=running"), what === "missed" && parts.push("outcome=missed"), what === "skipped" && parts.push("outcome=skipped");
  let job = query.get("job");
  return job && parts.push(`job=${encodeURIComponent(job)}`), before !== void 0 && parts.push(`before=${before}`), `runs?${parts.join("&")}`;
}
var askedFor = "all ", asked = new Asked(() => get(path()), 700);
function Runs() {
  let { query } = route.value, show = query.get("show") ?? "all", job = query.get("job") ?? "";
  A2(() => watch2(asked), []), A2(() => {
    `${show} ${job}` !== askedFor && (askedFor = `${show} ${job}`, older.value = { runs: [], next: void 0 }, asked.value.value = null, asked.now());
  }, [show, job]);
  let page = asked.value.value, newest = page?.runs ?? [], last2 = newest[newest.length - 1]?.number ?? 0, rows = [...newest, ...older.value.runs.filter((run) => run.number < last2)], next = older.value.runs.length > 0 ? older.value.next : page?.next, more = async () => {
    let answer = await get(path(next));
    older.value = { runs: [...older.value.runs, ...answer.runs], next: answer.next };
  };
  return k($, null, k("div", { class: "bar" }, k("h1", null, "Runs"), job && k("span", { class: "soft" }, "of ", k("b", null, plain(job)), " ", k("button", { type: "button", class: "quiet", onClick: () => setQuery("job", "") }, "all jobs")), k("span", { class: "grow" }), k(Segments, { label: "Which", value: show, options: [["all", "All"], ["running", "Running"], ["failed", "Failed"], ["skipped", "Skipped"], ["missed", "Missed"]], onChange: (value) => setQuery("show", value === "all" ? "" : value) })), k("section", { class: "panel", "aria-label": "Runs" }, k(RunTable, { runs: rows }), page && rows.length === 0 && k("p", { class: "note" }, "None."), next !== void 0 && k("p", { class: "note" }, k("button", { type: "button", onClick: () => {
    more();
  } }, "Older"))));
}
function RunTable({ runs, plainJob }) {
  return tickSecond.value, k("div", { class: "scroll" }, k("table", null, k("thead", null, k("tr", null, k("th", null, k("span", { class: "sr" }, "Outcome")), !plainJob && k("th", null, "Job"), k("th", null, "Time"), k("th", { class: "hide" }, "Delay"), k("th", { class: "hide" }, "Why"), k("th", null, "Took"), k("th", null, "End"), k("th", { class: "hide" }, "Output"))), k("tbody", null, runs.map((run) => {
    let mark2 = markOf(run), at = run.startedAt ?? run.chosenTime ?? run.periodId ?? run.passedOver?.last, took = run.startedAt ? tookOf(run) !== void 0 ? duration(tookOf(run) * 1e3) : mark2 === "run" ? counter(now() - Date.parse(run.startedAt)) : "" : "";
    return k("tr", { key: run.number || run.runId }, k("td", { class: "g" }, k(Glyph, { mark: mark2 })), !plainJob && k("td", { class: "cut" }, k(Name, { of: run.job })), k("td", { class: "num" }, run.runId ? k("a", { class: "in", href: `#/runs/${run.runId}` }, k(Time, { at })) : k(Time, { at })), k("td", { class: "num hide soft" }, run.delaySeconds === void 0 ? "" : duration(run.delaySeconds * 1e3)), k("td", { class: "hide soft" }, run.trigger === "schedule" ? "" : run.trigger), k("td", { class: "num" }, took), k("td", { class: `cut c-${mark2}` }, plain(endOf(run))), k("td", { class: "num hide" }, run.outputBytes ? k("a", { href: `#/runs/${run.runId}` }, bytes(run.outputBytes)) : ""));
  }))));
}

// src/views/job.tsx
function JobView({ name }) {
  let path3 = `jobs/${encodeURIComponent(name)}`, [job] = d2(() => new Asked(() => get(path3), 700)), [coming] = d2(() => new Asked(() => get(`${path3}/decisions?count=10`), 5e3)), [history2] = d2(() => new Asked(() => get(`runs?limit=100&job=${encodeURIComponent(name)}`), 700)), [days] = d2(() => new Asked(() => get(`${path3}/days`), 3e4));
  A2(() => {
    let off = [watch2(job), watch2(coming), watch2(history2), watch2(days)];
    return () => off.forEach((end) => end());
  }, []), useKeys(job.value.value, name);
  let known = job.value.value;
  if (A2(() => (jobZone.value = known?.timezone ?? "", () => {
    jobZone.value = "";
  }), [known?.timezone]), !known) return job.error.value ? k(Unknown, { name, error: job.error.value }) : k("p", { class: "note" }, "Asking krond…");
  let runs = history2.value.value?.runs ?? [], decisions = coming.value.value?.decisions ?? [], paused = known.paused;
  return k($, null, k("div", { class: "title" }, k("div", { class: "grow" }, k("div", { class: "faint crumb" }, k("a", { href: "#/jobs" }, "Jobs"), " /"), k("h1", { class: "name-line" }, k("bdi", null, plain(name)), " ", k("span", { class: "pill" }, k(State, { job: known })), " ", k(Outcomes, { letters: known.outcomes })), k("p", { class: "words" }, plain(wordsOf(known))), known.description && k("p", { class: "soft" }, plain(known.description)), paused && k("p", { class: "words c-skip" }, "Paused", paused.by ? ` by ${plain(paused.by)}` : "", paused.since ? k($, null, " since ", k(Time, { at: paused.since })) : null, paused.until ? k($, null, ", until ", k(Time, { at: paused.until })) : ", until somebody resumes it", paused.note ? `: ${plain(paused.note)}` : ".")), k("div", { class: "acts" }, k("button", { type: "button", onClick: () => toggle(known) }, known.paused ? "Resume…" : "Pause…", k("kbd", null, "P")), k("button", { type: "button", class: "main", onClick: () => runNow(name) }, "Run now…", k("kbd", null, "R")))), k("div", { class: "cols" }, k("div", null, k(NextPeriod, { decisions, name }), k("div", { class: "two" }, k(Coming, { decisions, isKnown: coming.value.value !== null }), k(Durations, { runs: [...runs].reverse(), usual: known.usualSeconds, limit: limitOf(known) })), k(Year, { days: days.value.value }), k(Panel, { title: "Runs", more: k("a", { class: "in", href: `#/runs?job=${encodeURIComponent(name)}` }, "all"), class: "gap" }, k(RunTable, { runs: runs.slice(0, 20), plainJob: !0 }), runs.length === 0 && k("p", { class: "note" }, "Not yet."))), k("aside", null, k(WhyNot, { name }), k(Panel, { title: "Definition", more: k("code", { class: "faint cut" }, plain(known.file.split("/").pop() ?? ""), known.line ? `:${known.line}` : ""), class: "gap" }, k("pre", { tabIndex: 0 }, plain(known.source ?? JSON.stringify(known.definition, null, 2)))), k(Rules, { job: known, path: path3 }), k(LastOutput, { runs }))));
}
function wordsOf(job) {
  let { window: window2 } = job.definition ?? {}, [mode, length] = typeof window2 == "string" ? ["after", window2] : [window2?.mode ?? "after", window2?.duration], sentence2 = `${job.words}, ${job.timezone}${length && length !== "0s" ? `, somewhere in the ${length} ${mode}` : ""}.`;
  return sentence2.charAt(0).toUpperCase() + sentence2.slice(1);
}
function useKeys(known, name) {
  let latest = T2(known);
  latest.current = known, A2(() => {
    let keyed = (event) => {
      let job = latest.current;
      if (!(!job || isTyping(event) || document.querySelector("dialog[open]"))) {
        if (event.key === "r") runNow(name);
        else if (event.key === "p") job.paused ? resumeJobs([name]) : pause([name]);
        else if (event.key === "l" && job.last?.runId) go(`/runs/${job.last.runId}`);
        else if (event.key === "w") document.getElementById("why-at")?.focus();
        else if (event.key === "e") document.querySelector("[aria-label='Next period'] canvas, #explain")?.focus();
        else return;
        event.preventDefault();
      }
    };
    return addEventListener("keydown", keyed), () => removeEventListener("keydown", keyed);
  }, [name]);
}
function isTyping(event) {
  let on = event.target;
  return event.metaKey || event.ctrlKey || event.altKey || on instanceof HTMLInputElement || on instanceof HTMLTextAreaElement || on instanceof HTMLSelectElement;
}
function Unknown({ name, error }) {
  A2(() => {
    loadJobs();
  }, []);
  let near = [...jobs.value.keys()].filter((other) => other.includes(name) || name.includes(other) || other.slice(0, 4) === name.slice(0, 4)).slice(0, 8);
  return k(Panel, { title: error.status === 404 ? "There is no such job" : "krond does not say" }, k("p", { class: "note" }, plain(error.problem.detail)), near.length > 0 && k("ul", { class: "list" }, near.map((other) => k("li", null, k(Glyph, { mark: "next" }), k("a", { class: "in", href: `#/jobs/${encodeURIComponent(other)}` }, plain(other))))));
}
function limitOf(job) {
  let text = job.definition?.timeout, found = typeof text == "string" ? /^(\d+)([smhd])$/.exec(text) : null;
  return found ? Number(found[1]) * { s: 1, m: 60, h: 3600, d: 86400 }[found[2]] : null;
}
function useClockChange(job, path3) {
  let [told, setTold] = d2(""), zoneNow = jobZone.value;
  return A2(() => {
    let change2 = clockChanges(now(), now() + 31968e6, "job", 864e5)[0];
    if (!change2 || zoneNow !== job.timezone || zoneNow === "UTC") return setTold("");
    let from = utc(change2.t - 26 * 36e5);
    get(`${path3}/decisions?count=20&from=${encodeURIComponent(from)}`).then(({ decisions }) => {
      let touched = decisions.find((decision) => Date.parse(decision.windowEnd) >= change2.t && Date.parse(decision.nominalTime) - change2.t < 936e5), when = `${day(change2.t, "job")} ${new Date(change2.t).getUTCFullYear()}: clocks go ${change2.by > 0 ? "forward" : "back"} by ${duration(Math.abs(change2.by) * 6e4)}`;
      if (!touched) return setTold(`${when}; no period is near`);
      let [start, end] = [Date.parse(touched.windowStart), Date.parse(touched.windowEnd)], window2 = end > start ? `, window ${seconds(start, "job").slice(0, 5)}–${seconds(end, "job").slice(0, 5)}` : "";
      setTold(`${when}; the period near it runs ${touched.chosenTime ? moment(Date.parse(touched.chosenTime), "job") : "at no time"}${window2}`);
    }).catch(() => {
    });
  }, [zoneNow, job.timezone, job.schedule]), told;
}
function Rules({ job, path: path3 }) {
  let change2 = useClockChange(job, path3), rows = rulesOf(job.definition, status.value ?? {}, job.task !== void 0);
  return rows.push(["Zone", job.timezone]), change2 && rows.push(["Clock change", change2]), job.firstSeen && rows.push(["First seen", moment(Date.parse(job.firstSeen))]), (job.command ?? job.task) && rows.push([job.task ? "Submits" : "Runs", job.task ?? job.command ?? ""]), k(Panel, { title: "Rules", class: "gap" }, k("dl", { class: "kv" }, rows.map(([key, value]) => k($, null, k("dt", null, key), k("dd", null, plain(value))))));
}
function LastOutput({ runs }) {
  let last2 = runs.find((run) => run.runId && (run.outputBytes ?? 0) > 0), [tail, setTail] = d2("");
  return A2(() => {
    last2 && linesOf(last2.runId, 4096).then((lines) => setTail(lines.slice(-8).join(`
`))).catch(() => {
    });
  }, [last2?.runId, last2?.outputBytes]), last2 ? k(Panel, { title: "Last output", more: k("a", { class: "in", href: `#/runs/${last2.runId}` }, "all of it"), class: "gap" }, k("pre", { class: "soft", tabIndex: 0 }, tail)) : null;
}

// src/draw/load.ts
var LOAD_HEIGHT = 104;
function load({ from, until, before, after, actual }, scale, now2, spread2, height = LOAD_HEIGHT, peakWords = "were they not spread") {
  let shapes = [], base = height - 14, steps = Math.max(before.length, after.length, 1), peak = Math.max(1, ...before, ...after, ...actual), y5 = (value) => base - Math.sqrt(Math.max(0, value) / peak) * (base - 18), x3 = (i4) => scale.x(from + (until - from) * i4 / steps);
  for (let value of [.../* @__PURE__ */ new Set([roundDown(peak / 20), roundDown(peak / 4), roundDown(peak)])].filter((each, i4, all) => i4 === 0 || y5(all[i4 - 1]) - y5(each) > 12))
    shapes.push({ kind: "line", x1: scale.left, y1: Math.round(y5(value)) + 0.5, x2: scale.right, y2: Math.round(y5(value)) + 0.5, stroke: "hair" }), shapes.push({ kind: "text", x: scale.left - 8, y: y5(value) + 4, text: value.toLocaleString("en-US"), fill: "faint", align: "right" });
  let bars = [];
  for (let i4 = 0; i4 < steps; ++i4) {
    let left = x3(i4), past = left < scale.x(now2), value = past && actual.length > 0 ? actual[i4] ?? 0 : (after[i4] ?? 0) * spread2 + (before[i4] ?? 0) * (1 - spread2);
    value <= 0 || bars.push({ kind: "rect", x: left, y: y5(value), w: Math.max(1, x3(i4 + 1) - left - 0.6), h: base - y5(value), fill: past ? "ok" : "after", ...past ? { opacity: 0.6 } : {} });
  }
  if (shapes.push(...bars), spread2 > 0) {
    let points = [], flush = () => {
      points.length > 0 && shapes.push({ kind: "path", points, stroke: "before", width: 1.1, opacity: 0.9 }), points = [];
    };
    for (let i4 = 0; i4 < steps; ++i4) {
      let value = before[i4] ?? 0;
      if (value <= (after[i4] ?? 0) || x3(i4 + 1) < scale.left) {
        flush();
        continue;
      }
      points.length === 0 && points.push([x3(i4), base]), points.push([x3(i4), y5(value)], [x3(i4 + 1), y5(value)], [x3(i4 + 1), base]);
    }
    flush();
    let most = Math.max(...before, 0), ahead = before.findIndex((value, i4) => value >= most * 0.9 && x3(i4) >= scale.x(now2)), at = ahead >= 0 ? ahead : before.indexOf(most);
    if (at >= 0 && (before[at] ?? 0) > 2 * Math.max(1, ...after)) {
      let right = x3(at + 1) + 6, flips = right > scale.right - 190;
      shapes.push({ kind: "text", x: flips ? x3(at) - 6 : right, y: 11, text: `${before[at].toLocaleString("en-US")} at ${clock(from + (until - from) * at / steps)}, ${peakWords}`, fill: "before", align: flips ? "right" : "left" });
    }
  }
  shapes.push({ kind: "line", x1: scale.left, y1: base + 0.5, x2: scale.right, y2: base + 0.5, stroke: "line" });
  let mark2 = Math.round(scale.x(now2)) + 0.5;
  return mark2 > scale.left && mark2 < scale.right && shapes.push({ kind: "line", x1: mark2, y1: 4, x2: mark2, y2: base, stroke: "ink", width: 1.2 }), shapes;
}

// src/draw/timeline.ts
var LANE = 23, TOP2 = 30, MOST_ROWS = 3, PAST = 0.3;
function timeline(picture, scale, now2, labels, spread2) {
  let { lanes } = picture, shapes = [], spots = [], heights = lanes.map((lane) => lane.jobs > 1 && lane.density ? LANE * 2 : LANE), height = TOP2 + heights.reduce((sum, part) => sum + part, 0) + 4;
  for (let tick of ticks(scale)) {
    let x4 = Math.round(scale.x(tick.t)) + 0.5;
    shapes.push({ kind: "line", x1: x4, y1: TOP2 - 6, x2: x4, y2: height, stroke: tick.isDay ? "line" : "hair" }), Math.abs(scale.x(now2) - x4) > 46 && x4 < scale.right - 16 && shapes.push({ kind: "text", x: x4, y: 16, text: tick.label, fill: tick.isDay ? "ink" : "faint", align: "center", weight: tick.isDay ? 550 : 400 });
  }
  shapes.push(...clockMarks(scale, height));
  let y5 = TOP2;
  lanes.forEach((lane, row) => {
    let tall = heights[row], middle = y5 + tall / 2;
    row > 0 && shapes.push({ kind: "line", x1: 14, y1: Math.round(y5) + 0.5, x2: scale.right, y2: Math.round(y5) + 0.5, stroke: "hair" });
    let mark2 = lane.mark ? GLYPHS[lane.mark] : void 0;
    mark2 && shapes.push({ kind: "glyph", x: 20, y: middle, mark: mark2 });
    let many = lane.jobs > 1 ? ` × ${lane.jobs.toLocaleString("en-US")}` : "";
    shapes.push({ kind: "text", x: mark2 ? 30 : 14, y: middle + 4, text: plain(lane.name) + many, fill: "ink", size: 12, most: labels - (mark2 ? 40 : 24) }), spots.push({ x: 0, y: y5, w: labels, h: tall, lines: () => [plain(lane.name) + many], href: hrefOf(lane) }), drawLane({ lane, picture, scale, now: now2, y: y5, tall, spread: spread2, shapes, spots }), y5 += tall;
  });
  let x3 = Math.round(scale.x(now2)) + 0.5;
  return x3 > scale.left && x3 < scale.right && (shapes.push({ kind: "line", x1: x3, y1: 22, x2: x3, y2: height, stroke: "ink", width: 1.2 }), shapes.push({ kind: "rect", x: x3 - 20, y: 3, w: 40, h: 18, r: 9, fill: "ink" }), shapes.push({ kind: "text", x: x3, y: 16, text: clock(now2), fill: "panel", align: "center", weight: 600 })), { shapes, spots, height };
}
function hrefOf(lane) {
  return `#/jobs${lane.jobs > 1 ? `?q=${encodeURIComponent(lane.name)}` : `/${encodeURIComponent(lane.name)}`}`;
}
function drawLane(place) {
  let { lane, picture, scale, y: y5, tall, shapes } = place, at = (s4) => scale.x(picture.from + s4 * 1e3);
  for (let [start, end] of lane.windows ?? []) {
    let left = Math.max(scale.left, at(start)), right = Math.min(scale.right, at(end));
    right > left && shapes.push({ kind: "rect", x: left, y: y5 + 3, w: Math.max(2, right - left), h: tall - 6, r: 6, fill: "win", stroke: "win-edge" });
  }
  drawDensity(place), drawPeriods(place), drawRuns(place);
}
function drawPeriods({ lane, picture: { from }, scale, now: now2, y: y5, tall, spread: spread2, shapes, spots }) {
  let at = (s4) => scale.x(from + s4 * 1e3), middle = y5 + tall / 2, periods = lane.periods ?? [], rows = rowsOf(periods), overlaps = overlapsOf(lane, (now2 - from) / 1e3), href = hrefOf(lane), name = plain(lane.name), cut2 = (x3) => Math.min(Math.max(x3, scale.left), scale.right);
  periods.forEach(([nominal, start, end, chosen], i4) => {
    let h5 = (tall - 8) / rows.count, top = y5 + 4 + rows.of[i4] * h5, left = cut2(at(start)), wide = cut2(at(end)) - left;
    if (wide > 3 && shapes.push({ kind: "rect", x: left, y: top, w: wide, h: h5 - (rows.count > 1 ? 1 : 0), r: 7, fill: "win", stroke: "win-edge" }), chosen === null) {
      shapes.push({ kind: "glyph", x: left + wide / 2, y: top + h5 / 2, mark: "none" }), spots.push({ x: left, y: y5, w: Math.max(wide, 8), h: tall, lines: () => [name, "no time in its window is allowed", `period ${moment(from + nominal * 1e3)}`], href });
      return;
    }
    let t4 = from + chosen * 1e3, x3 = at(nominal + (chosen - nominal) * spread2);
    if (x3 < scale.left - 1 || x3 > scale.right + 1) return;
    if (t4 < now2) {
      shapes.push({ kind: "rect", x: x3 - 1, y: top, w: 2, h: h5, r: 1, fill: "after", opacity: PAST });
      return;
    }
    lane.usual && at(lane.usual) - at(0) > 6 && shapes.push({ kind: "rect", x: x3, y: middle - 4, w: cut2(x3 + at(lane.usual) - at(0)) - x3, h: 8, r: 3, stroke: "after", dash: !0, opacity: 0.6 }), at(nominal) >= scale.left && Math.abs(at(nominal) - x3) > 4 && shapes.push({ kind: "circle", x: at(nominal), y: top + h5 / 2, r: 2.3, fill: "before" }), shapes.push({ kind: "rect", x: x3 - 1.3, y: top, w: 2.6, h: h5, r: 1.2, fill: "after" }), overlaps.has(i4) && shapes.push({ kind: "glyph", x: x3 + 8, y: middle, mark: "over" });
    let window2 = end > start ? [`window ${clock(from + start * 1e3)}–${clock(from + end * 1e3)}`] : [], told = () => [name, `${seconds(t4)}, ${relative(t4, now2)}`, utc(t4), ...window2, ...lane.usual ? [`usually ${duration(lane.usual * 1e3)}`] : [], ...overlaps.has(i4) ? ["overlaps the run before, if that takes as long as usual"] : []];
    spots.push({ x: Math.min(left, x3 - 4), y: y5, w: Math.max(wide, 8), h: tall, lines: told, href });
  });
}
function overlapsOf(lane, now2) {
  let found = /* @__PURE__ */ new Set();
  if (!lane.usual) return found;
  let active = (lane.runs ?? []).filter(([, , end, mark2]) => end === null && mark2 === "run").map(([, start]) => start + lane.usual), busyUntil = Math.max(-1 / 0, ...active);
  return (lane.periods ?? []).forEach(([, , , chosen], i4) => {
    chosen === null || chosen < now2 || (chosen < busyUntil ? found.add(i4) : busyUntil = chosen + lane.usual);
  }), found;
}
function drawRuns({ lane, picture: { from }, scale, now: now2, y: y5, tall, shapes, spots }) {
  let at = (s4) => scale.x(from + s4 * 1e3), middle = y5 + tall / 2, name = plain(lane.name);
  for (let [, start, end, mark2, runId] of lane.runs ?? []) {
    let left = Math.max(scale.left, at(start)), t4 = from + start * 1e3, active = mark2 === "run", right = Math.min(scale.right, end === null ? active ? scale.x(now2) : left : at(end));
    if (right < scale.left || left > scale.right) continue;
    let ran = active || mark2 === "ok";
    if (ran || right - left > 4) {
      let fill = active ? "run" : ran ? "ok" : mark2 === "fail" ? "fail" : "over";
      shapes.push({ kind: "rect", x: left, y: middle - 3.5, w: Math.max(2.5, right - left), h: 7, r: 2, fill });
    }
    let glyph2 = GLYPHS[mark2];
    glyph2 && shapes.push({ kind: "glyph", x: left, y: middle, mark: glyph2 });
    let took = end === null ? [] : [`took ${duration((end - start) * 1e3)}`];
    spots.push({ x: left - 5, y: y5, w: Math.max(10, right - left + 5), h: tall, lines: () => [name, `${MARK_NAMES[mark2] ?? mark2} ${moment(t4)}`, utc(t4), ...took], href: runId ? `#/runs/${runId}` : hrefOf(lane) });
  }
}
var GLYPHS = { fail: "fail", skip: "skip", miss: "miss", none: "none", over: "over", unknown: "unknown" }, MARK_NAMES = { ok: "succeeded", fail: "failed", skip: "skipped", miss: "missed", none: "no time", over: "passed over", unknown: "ended, nobody knows how", run: "running since" };
function clockMarks(scale, height) {
  return clockChanges(scale.from, scale.until).flatMap(({ t: t4, by }) => {
    let length = Math.abs(by) * 6e4, x3 = scale.x(t4), hour = by > 0 ? `${clock(t4 - 6e4).slice(0, 2)}:59 → ${clock(t4)}` : `${clock(t4)} again`, band = by > 0 ? { kind: "line", x1: Math.round(x3) + 0.5, y1: TOP2 - 8, x2: Math.round(x3) + 0.5, y2: height, stroke: "skip", dash: !0 } : { kind: "rect", x: x3, y: TOP2 - 8, w: Math.max(2, scale.x(t4 + length) - x3), h: height - TOP2 + 8, fill: "skip-soft" }, flips = x3 > scale.right - 110;
    return [band, { kind: "text", x: flips ? x3 - 4 : x3 + 4, y: TOP2 - 1, text: hour, fill: "skip", size: 10, align: flips ? "right" : "left" }];
  });
}
function rowsOf(periods) {
  let ends = [];
  return { of: periods.map(([, start, end]) => {
    let row = ends.findIndex((last2) => last2 <= start);
    return row < 0 && (row = ends.length < MOST_ROWS ? ends.length : ends.indexOf(Math.min(...ends))), ends[row] = end, row;
  }), count: Math.max(1, ends.length) };
}
var MOST_MARKS = 4e3;
function drawDensity({ lane, picture, scale, now: now2, y: y5, tall, spread: spread2, shapes, spots }) {
  let density = lane.density;
  if (!density || density.length === 0) return;
  let seconds2 = (picture.until - picture.from) / 1e3 / picture.columns, most = Math.max(...density.map(([, starts]) => starts)), all = density.reduce((sum, [, starts]) => sum + starts, 0), wide = (scale.right - scale.left) / picture.columns, room = tall - 10, single = lane.jobs > 1 && wide >= 2 && most * 2.2 <= room * 4 && all <= MOST_MARKS;
  for (let [column, starts] of density) {
    let t4 = column * seconds2, window2 = lane.windows?.find(([from, to]) => t4 + seconds2 > from && t4 < to), written = window2 ? window2[0] : t4, x3 = scale.x(picture.from + (written + (t4 - written) * spread2) * 1e3);
    if (x3 < scale.left - wide || x3 > scale.right) continue;
    let opacity = picture.from + t4 * 1e3 < now2 ? PAST : 0.85;
    if (single)
      for (let i4 = 0; i4 < starts; ++i4) {
        let at = scatter(column, i4);
        shapes.push({ kind: "rect", x: x3 + scatter(i4, column) * Math.max(0, wide - 2) * spread2, y: y5 + 5 + at * (room - 5), w: 2, h: 5, r: 1, fill: "after", opacity });
      }
    else {
      let h5 = Math.max(3, Math.sqrt(starts / most) * room);
      shapes.push({ kind: "rect", x: x3, y: y5 + tall - 5 - h5, w: Math.max(1.5, wide - 0.7), h: h5, r: 1, fill: "after", opacity });
    }
    spots.push({ x: x3, y: y5, w: Math.max(4, wide), h: tall, lines: () => [plain(lane.name), `${starts.toLocaleString("en-US")} ${starts === 1 ? "start" : "starts"} from ${moment(picture.from + t4 * 1e3)}`, ...window2 ? [`window ${clock(picture.from + window2[0] * 1e3)}–${clock(picture.from + window2[1] * 1e3)}`] : []], href: hrefOf(lane) });
  }
}
function scatter(a4, b4) {
  let mixed = Math.imul(a4 + 1, 2654435761) ^ Math.imul(b4 + 7, 2246822507);
  return (Math.imul(mixed ^ mixed >>> 15, 739982445) >>> 8 & 65535) / 65536;
}

// src/views/numbers.tsx
var COUNTED = [["ok", ["succeeded"]], ["fail", ["failed", "timedOut"]], ["unknown", ["unknown"]], ["skip", ["skipped"]], ["miss", ["missed"]], ["none", ["noTime"]]], NAMES = ["starts", "delayP50", "delayP99", ...COUNTED.flatMap(([, names]) => names)], numbersAsked = new Asked(() => get(`series?for=24h&step=1m&names=${NAMES.join(",")}`), 5e3);
function numbersOf({ points, series }) {
  let sum = (name) => (series[name] ?? []).reduce((all, value) => all + (value ?? 0), 0), starts = series.starts ?? [], medians = (series.delayP50 ?? []).flatMap((delay, i4) => delay === null ? [] : [{ delay, starts: starts[i4] ?? 0 }]).sort((a4, b4) => a4.delay - b4.delay), left = medians.reduce((all, one) => all + one.starts, 0) / 2, median = medians.find((one) => (left -= one.starts) <= 0), worst = (series.delayP99 ?? []).filter((delay) => delay !== null);
  return {
    starts: sum("starts"),
    counts: new Map(COUNTED.map(([mark2, names]) => [mark2, names.reduce((all, name) => all + sum(name), 0)])),
    minutes: points - (series.succeeded ?? []).filter((value) => value === null).length,
    usualDelay: median?.delay ?? null,
    worstDelay: worst.length === 0 ? null : Math.max(...worst)
  };
}
function Numbers() {
  A2(() => watch2(numbersAsked, !0), []);
  let known = numbersAsked.value.value;
  if (!known) return null;
  let { starts, counts, minutes, usualDelay, worstDelay } = numbersOf(known), isDay = minutes >= known.points;
  return k("section", { class: "panel stat", "aria-label": isDay ? "Last 24 hours" : "Since krond is up" }, k("div", null, k("b", null, starts.toLocaleString("en-US")), k("span", null, "started", isDay ? "" : " in 24 h")), COUNTED.filter(([mark2]) => mark2 !== "unknown" || counts.get(mark2)).map(([mark2]) => k("div", null, k("b", { class: counts.get(mark2) && mark2 !== "ok" ? `c-${mark2}` : "" }, counts.get(mark2).toLocaleString("en-US")), k("span", null, k(Glyph, { mark: mark2, label: "" }), " ", MARK_WORDS[mark2]))), usualDelay !== null && k("div", { class: "hide" }, k("b", null, duration(usualDelay * 1e3)), k("span", null, "start delay, median")), worstDelay !== null && k("div", { class: "hide" }, k("b", null, duration(worstDelay * 1e3)), k("span", null, "p99, worst minute")), k("div", { class: "when" }, k("span", null, isDay ? k($, null, "in the last", k("br", null), "24 hours") : k($, null, "in the ", duration(minutes * 6e4), k("br", null), "krond is up"))));
}

// src/views/overview.tsx
var HOUR2 = 36e5, spread = y3(1), asList = y3(!1), moving = 0;
function toggleSpread() {
  cancelAnimationFrame(moving);
  let target = spread.value > 0.5 ? 0 : 1;
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    spread.value = target;
    return;
  }
  let from = spread.value, begun = performance.now(), step2 = (t4) => {
    let part = Math.min(1, (t4 - begun) / 400), eased = part < 0.5 ? 2 * part * part : 1 - (-2 * part + 2) ** 2 / 2;
    spread.value = from + (target - from) * eased, part < 1 && (moving = requestAnimationFrame(step2));
  };
  moving = requestAnimationFrame(step2);
}
function moveAxis(key) {
  let { hours, from } = span.value, begin = from ?? now() - hours * HOUR2 / 4, zoomed = (wide) => chooseSpan(wide, from === null ? null : begin + (hours - wide) * HOUR2 / 2);
  if (key === "ArrowLeft") chooseSpan(hours, begin - hours * HOUR2 / 4);
  else if (key === "ArrowRight") chooseSpan(hours, begin + hours * HOUR2 / 4);
  else if (key === "0") chooseSpan(hours, null);
  else if (key === "+" || key === "=") zoomed(hours / 2);
  else if (key === "-" || key === "−") zoomed(hours * 2);
  else return !1;
  return !0;
}
var narrow = matchMedia("(max-width: 700px)");
function Overview() {
  A2(() => {
    narrow.matches && !route.value.query.get("for") && chooseSpan(12, null);
    let off = [watch2(pictureAsked), watch2(attentionAsked, !0), watch2(runningAsked, !0)], timer = setInterval(() => document.visibilityState === "visible" && pictureAsked.refresh(), 3e4 + Math.random() * 5e3);
    return () => {
      off.forEach((end) => end()), clearInterval(timer);
    };
  }, []);
  let { hours, from, order } = span.value;
  return A2(() => {
    pictureAsked.value.peek() && pictureAsked.now();
  }, [hours, from, order]), k($, null, k(Verdict, null), status.value?.jobs === 0 ? k(NoJobs, null) : null, k("div", { class: "cols rail" }, k("div", null, k(Picture, null), k(Numbers, null)), k("aside", null, k(NeedsYou, null), k(Running, null), k(Next, null))));
}
function Verdict() {
  let told = attentionAsked.value.value, known = status.value;
  if (tickSecond.value, !told) return k("h1", { class: "verdict" }, attentionAsked.error.value ? plain(attentionAsked.error.value.problem.detail) : "Asking krond…");
  let fine = Math.max(0, told.jobs - told.jobsInNeed), next = nextUp(1)[0];
  return k("h1", { class: "verdict" }, told.jobsInNeed > 0 ? k($, null, k("span", { class: "bad" }, told.jobsInNeed === 1 ? "1 job needs you." : `${told.jobsInNeed.toLocaleString("en-US")} jobs need you.`), k("span", null, fine.toLocaleString("en-US"), " ", fine === 1 ? "is" : "are", " fine.")) : told.items.length > 0 ? k("span", { class: "bad" }, "krond needs you.") : k("span", null, told.jobs === 0 ? "krond has no jobs yet." : told.jobs === 1 ? "Your one job is fine." : `All ${told.jobs.toLocaleString("en-US")} are fine.`), known && k("small", null, known.running, " running", next && k($, null, " · next ", k("b", null, plain(next.name)), " ", next.t > now() ? `in ${duration(next.t - now())}` : "now"), ` · krond up ${duration(now() - Date.parse(known.startedAt))}`));
}
function NoJobs() {
  return k(Panel, { title: "Where jobs come from" }, k("div", { class: "prose" }, k("p", null, "This page edits no jobs: files are the truth. Ways in:"), k("ul", null, k("li", null, "write ", k("code", null, status.value?.config[0] ?? "/etc/krond.d", "/first.kron"), ", one line: ", k("code", null, '0 3 * * * @win(after,1h) name=hello command="echo hello"')), k("li", null, k("code", null, "kron import crontab"), " makes such lines of a crontab"), k("li", null, "then ", k("code", null, "kron reload")), k("li", null, k("a", { class: "in", href: "#/try" }, "Try"), " such a line first: nothing is saved there"))));
}
var HOURS = [["1", "1 h"], ["6", "6 h"], ["24", "24 h"], ["168", "7 d"]], ORDERS = [["due", "Due first"], ["name", "By name"], ["attention", "Needs you"]];
function Picture() {
  let picture = pictureAsked.value.value;
  tickSecond.value, zone.value;
  let part = spread.value, away = awaySince.value, { hours, from, order } = span.value, pace = hours <= 2 ? 2e3 : 1e4, at = away === null ? Math.floor(now() / pace) * pace : away, lanes = b(
    (width) => {
      if (!picture) return { shapes: [], spots: [], height: 320 };
      let labels = width < 600 ? 96 : 164, scale = new Scale(picture.from, picture.until, labels, width - 16);
      return timeline(picture, scale, at, labels, part);
    },
    [picture, at, part, zone.value]
  ), bars = b(
    (width) => {
      if (!picture) return { shapes: [], height: LOAD_HEIGHT };
      let scale = new Scale(picture.from, picture.until, width < 600 ? 96 : 164, width - 16);
      return { shapes: load(picture, scale, at, part), height: LOAD_HEIGHT };
    },
    [picture, at, part, zone.value]
  );
  A2(() => {
    picture && performance.getEntriesByName("picture").length === 0 && requestAnimationFrame(markPicture);
  }, [picture === null]);
  let peaks = picture ? [Math.max(0, ...picture.before), Math.max(0, ...picture.after)] : [0, 0], step2 = picture ? (picture.until - picture.from) / picture.columns : 3e5, words = picture ? `${day(picture.from)} ${clock(picture.from)} to ${day(picture.until)} ${clock(picture.until)}` : "";
  return k("section", { class: `panel picture ${away === null ? "" : "stale"}`, "aria-label": "Timeline" }, k("div", { class: "head" }, k("h2", null, hours >= 48 ? `${+(hours / 24).toFixed(1)} days` : hours === 1 ? "An hour" : hours < 1 ? `${Math.round(hours * 60)} minutes` : `${+hours.toFixed(1)} hours`), k("span", { class: "key hide" }, k("i", { class: "k-win" }), "window, chosen second"), k("span", { class: "key hide" }, k("i", { class: "k-ran" }), "ran"), k("span", { class: "key hide wide-only" }, k("i", { class: "k-usual" }), "usual length"), k("span", { class: "key hide" }, k("i", { class: "k-dot" }), "as written"), k("span", { class: "grow" }), from !== null && k("button", { type: "button", class: "quiet", onClick: () => moveAxis("0") }, "Back to now"), k(Segments, { label: "Range", value: String(hours), options: HOURS, onChange: (value) => chooseSpan(Number(value), null) }), k(Segments, { label: "Order", value: order, options: ORDERS, onChange: (value) => setQuery("order", value === "due" ? "" : value) }), k("button", { type: "button", class: "quiet", "aria-pressed": asList.value, onClick: () => asList.value = !asList.value }, "As a list")), pictureAsked.error.value && !picture && k("p", { class: "note" }, plain(pictureAsked.error.value.problem.detail)), asList.value && picture ? k(List, null) : k(Canvas, { draw: lanes, onKey: moveAxis, label: `Timeline of ${counted(picture?.lanes.length ?? 0, "lane")}, ${words}. Up and down go from mark to mark, left and right move the time.` }), picture && picture.more > 0 && k("p", { class: "note" }, counted(picture.more, "more lane"), " ", picture.more === 1 ? "is" : "are", " due later or rarely: ", k("a", { class: "in", href: "#/jobs" }, "all jobs")), k("div", { class: "head second" }, k("h2", null, "Starts in ", duration(step2)), k("button", { type: "button", class: "key", onClick: toggleSpread, "aria-pressed": part < 0.5, title: "b: as written or as spread" }, k("i", { class: "k-before" }), "as written: peak ", k("b", { class: "before num" }, peaks[0].toLocaleString("en-US"))), k("span", { class: "key" }, k("i", { class: "k-after" }), "spread: peak ", k("b", { class: "after num" }, peaks[1].toLocaleString("en-US"))), k("span", { class: "key hide" }, k("i", { class: "k-ran" }), "started"), k("span", { class: "grow" }), k("span", { class: "faint hide" }, "√ scale · ", k("kbd", null, "b"), " before/after · ", k("kbd", null, "+"), " ", k("kbd", null, "−"), " zoom · ", k("kbd", null, "←"), " ", k("kbd", null, "→"), " move · ", k("kbd", null, "0"), " now")), k(Canvas, { draw: bars, label: `Starts per ${duration(step2)}: as written at most ${peaks[0]}, spread at most ${peaks[1]}` }));
}
function List() {
  let picture = pictureAsked.value.value, rows = [];
  for (let lane of picture.lanes) {
    let at = (seconds2) => picture.from + seconds2 * 1e3;
    for (let [, start, , mark2, runId] of lane.runs ?? []) rows.push({ lane: lane.name, jobs: lane.jobs, t: at(start), what: MARK_NAMES[mark2] ?? mark2, runId });
    for (let [nominal, , , chosen] of lane.periods ?? []) rows.push({ lane: lane.name, jobs: lane.jobs, t: at(chosen ?? nominal), what: chosen === null ? "no time" : "due", runId: "" });
    for (let [column, starts] of lane.density ?? []) rows.push({ lane: lane.name, jobs: lane.jobs, t: picture.from + (picture.until - picture.from) * column / picture.columns, what: counted(starts, "start"), runId: "" });
  }
  return k("div", { class: "scroll", tabIndex: 0, role: "region", "aria-label": "The timeline as a list" }, k("table", null, k("thead", null, k("tr", null, k("th", null, "Job"), k("th", null, "Time"), k("th", null, "What"))), k("tbody", null, rows.slice(0, 2e3).map((row) => k("tr", null, k("td", null, row.jobs > 1 ? plain(row.lane) : k(Name, { of: row.lane })), k("td", { class: "num" }, k(Time, { at: row.t })), k("td", null, row.runId ? k("a", { class: "in", href: `#/runs/${row.runId}` }, row.what) : row.what))))), rows.length > 2e3 && k("p", { class: "note" }, counted(rows.length - 2e3, "more mark"), "."));
}
var MATTER_MARK = { failing: "fail", missed: "miss", skipping: "skip", "too long": "run", "may have no time": "none", "long paused": "pause" }, OF_JOBS = new Set(Object.keys(MATTER_MARK).concat("not scheduled"));
function NeedsYou() {
  let told = attentionAsked.value.value, items = told?.items ?? [], left = items.length - 8 + (told?.more ?? 0);
  return k(Panel, { title: "Needs you", more: k("span", { class: "faint num" }, items.length || "") }, items.length === 0 ? k("p", { class: "note" }, told ? "Nothing does." : "") : k("ul", { class: "list" }, items.slice(0, 8).map((item) => k(Need, { item })), left > 0 && k("li", null, k("span", null), k("a", { class: "in", href: "#/jobs?q=is%3Afailing" }, left, " more"))));
}
function Need({ item }) {
  let isJob = OF_JOBS.has(item.matter), again = item.what.startsWith("failed") && item.reason.startsWith("failed "), told = [item.what, again ? item.reason.slice(7) : item.reason].filter(Boolean).join(again ? " " : ": ");
  return k("li", null, k(Glyph, { mark: MATTER_MARK[item.matter] ?? "fail", label: item.matter }), k("b", { class: "cut" }, isJob ? k(Name, { of: item.name }) : plain(item.name || "krond")), k("span", { class: "faint num" }, item.since ? k(Time, { at: item.since, ago: !0 }) : ""), k("span", { class: "d" }, sentence(told), " ", sentence(item.cure), isJob && item.matter === "failing" ? k($, null, " ", k("button", { type: "button", class: "link", onClick: () => {
    lastOutput(item.name);
  } }, "Output")) : null));
}
async function lastOutput(name) {
  let run = (await get(`runs?limit=1&result=failed&job=${encodeURIComponent(name)}`)).runs[0]?.runId;
  go(run ? `/runs/${run}` : `/jobs/${encodeURIComponent(name)}`);
}
function usualOf(name) {
  return pictureAsked.value.value?.lanes.find((lane) => lane.name === name)?.usual ?? null;
}
function Running() {
  let runs = runningAsked.value.value ?? [];
  return tickSecond.value, k(Panel, { title: "Running", more: k("span", { class: "faint num" }, runs.length), class: "gap" }, runs.length === 0 && k("p", { class: "note" }, "Nothing."), k("ul", { class: "list compact" }, runs.slice(0, 8).map((run) => {
    let usual = usualOf(run.job), elapsed = run.startedAt ? now() - Date.parse(run.startedAt) : 0;
    return k("li", { key: run.runId }, k(Glyph, { mark: "run", label: "" }), k("a", { class: "cut", href: `#/runs/${run.runId}` }, k("bdi", null, plain(run.job))), k("span", { class: "num" }, run.startedAt ? counter(elapsed) : ""), usual ? k("span", { class: "d against" }, k("progress", { max: usual * 1e3, value: Math.min(elapsed, usual * 1e3), "aria-label": `of usually ${duration(usual * 1e3)}` }), "of usually ", duration(usual * 1e3)) : null);
  })), runs.length > 8 && k("p", { class: "note" }, k("a", { class: "in", href: "#/runs?show=running" }, runs.length - 8, " more")));
}
function nextUp(count) {
  let picture = pictureAsked.value.value, found = [];
  for (let lane of picture?.lanes ?? []) {
    let wide = (picture.until - picture.from) / picture.columns, times = [
      ...(lane.periods ?? []).flatMap(([, , , chosen]) => chosen === null ? [] : [picture.from + chosen * 1e3]),
      ...(lane.density ?? []).map(([column]) => picture.from + column * wide)
    ], t4 = Math.min(...times.filter((time) => time > now() - 1e3));
    t4 !== 1 / 0 && found.push({ name: lane.name, jobs: lane.jobs, t: t4 });
  }
  return found.sort((a4, b4) => a4.t - b4.t).slice(0, count);
}
function Next() {
  return tickSecond.value, k(Panel, { title: "Next", more: k("span", { class: "faint" }, zone.value === "utc" ? "UTC" : `${zoneName()} time`), class: "gap" }, k("ul", { class: "list compact" }, nextUp(8).map(({ name, jobs: jobs2, t: t4 }) => k("li", { key: name }, k(Glyph, { mark: "next", label: "" }), k("span", { class: "cut" }, jobs2 > 1 ? k("a", { class: "name", href: `#/jobs?q=${encodeURIComponent(name)}` }, k("bdi", null, plain(name))) : k(Name, { of: name })), k("span", { class: "num" }, k("span", { class: "faint" }, t4 > now() ? duration(t4 - now()) : "now"), " ", moment(t4))))), nextUp(1).length === 0 && k("p", { class: "note" }, "Nothing in this picture."));
}

// src/views/compare.tsx
var MOST_BYTES2 = 1 << 20, SHOWN = 400, shape = (line) => line.replace(/\d+/g, "0").trimEnd();
function firstDifference(a4, b4) {
  let shorter = Math.min(a4.length, b4.length);
  for (let i4 = 0; i4 < shorter; ++i4) if (shape(a4[i4]) !== shape(b4[i4])) return i4;
  return a4.length === b4.length ? -1 : shorter;
}
function Compare({ run, onClose }) {
  let [pair, setPair] = d2(null), [problem, setProblem] = d2(""), at = T2(null);
  A2(() => {
    (async () => {
      let good = (await get(`runs?limit=1&result=succeeded&job=${encodeURIComponent(run.job)}&before=${run.number}`)).runs[0];
      if (!good?.runId) throw new Error("No run before this one succeeded.");
      let [mine, theirs] = await Promise.all([linesOf(run.runId, MOST_BYTES2), linesOf(good.runId, MOST_BYTES2)]);
      setPair({ good, mine, theirs });
    })().catch((error) => setProblem(error.message));
  }, [run.runId]), A2(() => at.current?.scrollIntoView({ block: "center" }), [pair]);
  let differs = pair ? firstDifference(pair.mine, pair.theirs) : -1, first2 = Math.max(0, differs - SHOWN / 2), side = (title, lines, isMine) => k("div", null, k("h3", null, title), first2 > 0 && k("p", { class: "note" }, first2, " lines before these are the same."), lines.slice(first2, first2 + SHOWN).map((line, i4) => k("div", { class: `line ${first2 + i4 === differs ? "differs" : ""}`, ...first2 + i4 === differs && isMine ? { ref: at } : {} }, first2 + i4 === differs && k("span", { class: "sr" }, "First difference: "), line || " ")), differs === lines.length && k("div", { class: "line differs", ...isMine ? { ref: at } : {} }, k("i", null, "it ends here")));
  return k(Panel, { title: "Compared with the last success", class: "gap", more: k("button", { type: "button", class: "quiet", onClick: onClose }, "Close") }, problem && k("p", { class: "note" }, plain(problem)), !pair && !problem && k("p", { class: "note" }, "Asking krond…"), pair && k($, null, k("p", { class: "note" }, differs < 0 ? "They are the same, but for numbers." : `Line ${differs + 1} is the first that differs. Numbers are not compared.`), k("div", { class: "beside", tabIndex: 0, role: "region", "aria-label": "Both outputs" }, side(k($, null, "This run, ", k(Time, { at: run.startedAt })), pair.mine, !0), side(k($, null, k("a", { class: "in", href: `#/runs/${pair.good.runId}` }, "Succeeded"), ", ", k(Time, { at: pair.good.startedAt })), pair.theirs, !1))));
}

// src/views/output_panel.tsx
var SHOWN2 = 1e3;
function OutputPanel({ id, bytes: size, ended }) {
  let [output, setOutput] = d2(null), [find, setFind] = d2(""), [wraps, setWraps] = d2(!0), [sticks, setSticks] = d2(!0), box = T2(null);
  A2(() => {
    let mine = new Output(id);
    return setOutput(mine), () => mine.close();
  }, [id]);
  let all = output?.lines.value ?? [], text = find.toLowerCase(), found = text ? all.filter((line) => line.pieces.map((piece) => piece.text).join("").toLowerCase().includes(text)) : all, shown = found.slice(-SHOWN2), state = output?.state.value ?? "asking", tail = output?.open.value ?? [];
  A2(() => {
    sticks && box.current && (box.current.scrollTop = box.current.scrollHeight);
  }, [shown[shown.length - 1]?.number, tail, sticks, wraps]);
  let skipped = output?.skipped.value ?? 0, problem = output?.problem.value ?? "";
  return k(
    Panel,
    {
      title: "Output",
      more: k($, null, k("span", { class: "soft num", role: "status" }, text ? `${counted(found.length, "line")}` : output?.isFast.value ? "too fast to follow: only its end is shown" : state === "following" && !ended ? "live" : state === "away" ? "krond is away, trying" : size ? bytes(size) : ""), k("input", { id: "filter", type: "search", placeholder: "Find", "aria-label": "Find in the output", value: find, onInput: (event) => setFind(event.currentTarget.value) }), k("button", { type: "button", class: "quiet", "aria-pressed": wraps, onClick: () => setWraps(!wraps) }, "Wrap"), k("button", { type: "button", class: "quiet", onClick: () => {
        download(id).catch((error) => say(String(error), !0));
      } }, "Save"))
    },
    k("div", { class: `output ${wraps ? "wraps" : ""}`, ref: box, tabIndex: 0, role: "log", "aria-label": "Output", "aria-live": "off", onScroll: (event) => {
      let view = event.currentTarget;
      setSticks(view.scrollHeight - view.scrollTop - view.clientHeight < 24);
    } }, skipped > 0 && k("p", { class: "note" }, bytes(skipped), " of it are not shown here; save it to have all of it."), found.length > SHOWN2 && k("p", { class: "note" }, (found.length - SHOWN2).toLocaleString("en-US"), " lines before these."), shown.map((line) => k("div", { class: "line", key: line.number }, k(Pieces, { line: line.pieces, find: text }), line.cut > 0 && k("i", { class: "faint" }, " … and ", line.cut.toLocaleString("en-US"), " characters"))), tail.length > 0 && !text && k("div", { class: "line" }, k(Pieces, { line: tail, find: "" })), all.length === 0 && tail.length === 0 && k("p", { class: "note" }, state === "asking" ? "Asking krond…" : problem ? plain(problem) : ended ? "It printed nothing." : "Nothing yet.")),
    !sticks && !ended && k("button", { type: "button", class: "jump", onClick: () => setSticks(!0) }, "Follow")
  );
}
function Pieces({ line, find }) {
  return k($, null, line.map((piece) => piece.style ? k("span", { class: piece.style }, marked(piece.text, find)) : marked(piece.text, find)));
}
function marked(text, find) {
  if (find === "") return text;
  let low = text.toLowerCase();
  if (low.length !== text.length) return text;
  let parts = [], at = 0;
  for (let next = low.indexOf(find); next >= 0; next = low.indexOf(find, at))
    parts.push(text.slice(at, next), k("mark", null, text.slice(next, next + find.length))), at = next + find.length;
  return k($, null, parts, text.slice(at));
}
async function download(id) {
  let response = await open(`runs/${id}/output`), link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob()), link.download = `${id}.txt`, link.click(), setTimeout(() => URL.revokeObjectURL(link.href), 6e4);
}

// src/views/run.tsx
function RunView({ id }) {
  let [compares, setCompares] = d2(!1), [run] = d2(() => new Asked(() => get(`runs/${encodeURIComponent(id)}`), 500));
  A2(() => watch2(run), []), tickSecond.value;
  let known = run.value.value;
  if (!known) {
    let error = run.error.value;
    return error ? k(Panel, { title: error.status === 404 ? "There is no such run" : "krond does not say" }, k("p", { class: "note" }, plain(error.problem.detail), ". Runs are forgotten after a while; ", k("a", { class: "in", href: "#/runs" }, "these are known"), ".")) : k("p", { class: "note" }, "Asking krond…");
  }
  let mark2 = markOf(known), started = known.startedAt ? Date.parse(known.startedAt) : null, isActive = mark2 === "run", took = tookOf(known);
  return k($, null, k("div", { class: "title" }, k("div", { class: "grow" }, k("div", { class: "faint crumb" }, k("a", { href: "#/runs" }, "Runs"), " / ", k(Name, { of: known.job }), " /"), k("h1", { class: "name-line" }, k(Glyph, { mark: mark2 }), " ", k("bdi", null, plain(known.job)), " ", k("span", { class: "soft num" }, started === null ? "" : isActive ? counter(now() - started) : took === void 0 ? "" : `took ${duration(took * 1e3)}`)), k("p", { class: `words c-${mark2}` }, plain(endOf(known)))), !isActive && mark2 !== "ok" && known.runId && k("div", { class: "acts" }, k("button", { type: "button", "aria-pressed": compares, onClick: () => setCompares(!compares) }, "Compare with the last success")), isActive && k("div", { class: "acts" }, k("button", { type: "button", onClick: () => terminate(known) }, "End…"), k("button", { type: "button", class: "danger", onClick: () => kill(known) }, "Kill…"))), k("div", { class: "cols" }, k("div", null, compares && k(Compare, { run: known, onClose: () => setCompares(!1) }), known.runId ? k(OutputPanel, { id: known.runId, bytes: known.outputBytes ?? 0, ended: !isActive }) : k(Panel, { title: "Output" }, k("p", { class: "note" }, "Nothing ran."))), k("aside", null, k(Panel, { title: "When" }, k("dl", { class: "kv" }, known.periodId && k($, null, k("dt", null, "Period"), k("dd", { class: "num" }, k(Time, { at: known.periodId }))), known.chosenTime && k($, null, k("dt", null, "Chosen"), k("dd", { class: "num" }, k(Time, { at: known.chosenTime }))), known.startedAt && k($, null, k("dt", null, "Started"), k("dd", { class: "num" }, k(Time, { at: known.startedAt }))), known.delaySeconds !== void 0 && k($, null, k("dt", null, "Delay"), k("dd", { class: "num" }, known.delaySeconds < 1e-3 ? "none" : duration(known.delaySeconds * 1e3))), known.endedAt && k($, null, k("dt", null, "Ended"), k("dd", { class: "num" }, k(Time, { at: known.endedAt }))), k("dt", null, "Because"), k("dd", null, known.trigger === "schedule" ? "of its schedule" : known.trigger === "manual" ? "somebody asked" : "the machine started"), known.memoryBytes && k($, null, k("dt", null, "Used"), k("dd", { class: "num" }, duration((known.cpuUserSeconds + known.cpuSystemSeconds) * 1e3), " CPU, ", bytes(known.memoryBytes))), known.memoryBytes && k($, null, k("dt", null, "Disks"), k("dd", { class: "num" }, bytes(known.readBytes ?? 0), " read, ", bytes(known.writtenBytes ?? 0), " written")), known.attempts && k($, null, k("dt", null, "Attempts"), k("dd", { class: "num" }, known.attempts)), known.host && k($, null, k("dt", null, "Host"), k("dd", null, plain(known.host))), known.pid && k($, null, k("dt", null, "PID"), k("dd", { class: "num" }, known.pid)), k("dt", null, "Run"), k("dd", { class: "mono wrap" }, known.runId))))));
}

// src/views/tasks.tsx
var older2 = y3([]);
function path2(after = "") {
  let show = route.value.query.get("show") ?? "";
  return `tasks?limit=100${show ? `&state=${show}` : ""}${after ? `&after=${encodeURIComponent(after)}` : ""}`;
}
var asked2 = new Asked(() => get(path2()), 2e3), isFailed = (task) => task.outcome === "FAILED", word = (task) => (task.outcome ?? task.state).toLowerCase(), mark = (task) => task.outcome === "SUCCEEDED" ? "ok" : isFailed(task) ? "fail" : task.state === "RUNNING" ? "run" : "next";
function change(task, verb) {
  may("operate") && (question.value = {
    title: verb === "cancel" ? `Cancel the task ${plain(task.taskId)}?` : `Try the task ${plain(task.taskId)} again?`,
    text: verb === "cancel" ? "It is not worked on any more, and counts as failed." : "It is given more attempts, and waits for a worker.",
    yes: verb === "cancel" ? "Cancel the task" : "Try again",
    danger: verb === "cancel",
    act: async () => (await post(`tasks/${encodeURIComponent(task.taskId)}/${verb}`, verb === "retry" ? {} : void 0), asked2.refresh(), verb === "cancel" ? "It was cancelled." : "It waits for a worker.")
  });
}
function Tasks() {
  let show = route.value.query.get("show") ?? "";
  A2(() => {
    let off = watch2(asked2), timer = setInterval(() => document.visibilityState === "visible" && asked2.refresh(), 5e3);
    return () => {
      off(), clearInterval(timer);
    };
  }, []), A2(() => {
    older2.value = [], asked2.now();
  }, [show]);
  let page = asked2.value.value, rows = [...page?.tasks ?? [], ...older2.value], counts = status.value?.tasks, last2 = rows[rows.length - 1];
  return k($, null, k("div", { class: "bar" }, k("h1", null, "Tasks"), counts && k("span", { class: "soft num" }, counts.pending, " pending, ", counts.running, " running"), k("span", { class: "grow" }), k(Segments, { label: "Which", value: show, options: [["", "All"], ["pending", "Pending"], ["running", "Running"], ["failed", "Failed"]], onChange: (value) => setQuery("show", value) })), status.value?.tasksProblem && k("p", { class: "alarm" }, plain(status.value.tasksProblem)), k("section", { class: "panel", "aria-label": "Tasks" }, k("div", { class: "scroll" }, k("table", null, k("thead", null, k("tr", null, k("th", null, k("span", { class: "sr" }, "State")), k("th", null, "Task"), k("th", null, "Type"), k("th", null, "State"), k("th", { class: "hide" }, "Attempt"), k("th", null, "Changed"), k("th", null, k("span", { class: "sr" }, "Actions")))), k("tbody", null, rows.map((task) => k("tr", { key: task.taskId }, k("td", { class: "g" }, k(Glyph, { mark: mark(task), label: "" })), k("td", { class: "cut mono" }, k("a", { class: "in", href: `#/tasks/${encodeURIComponent(task.taskId)}` }, plain(task.taskId))), k("td", { class: "cut" }, plain(task.payload.type)), k("td", { class: isFailed(task) ? "c-fail" : "" }, word(task)), k("td", { class: "num hide" }, task.attempt, " of ", task.maxAttempts), k("td", { class: "num" }, k(Time, { at: task.updatedAt })), k("td", null, task.state !== "COMPLETED" ? k("button", { type: "button", class: "quiet", onClick: () => change(task, "cancel") }, "Cancel…") : isFailed(task) ? k("button", { type: "button", class: "quiet", onClick: () => change(task, "retry") }, "Again…") : null)))))), asked2.error.value && k("p", { class: "note" }, plain(asked2.error.value.problem.detail)), page && rows.length === 0 && k("p", { class: "note" }, "None. ", k("code", null, "kron task submit"), " makes one, a job with ", k("code", null, "task="), " does it on schedule."), page?.next && last2 && k("p", { class: "note" }, k("button", { type: "button", onClick: () => {
    get(path2(older2.value.length > 0 ? last2.taskId : page.next)).then((more) => older2.value = [...older2.value, ...more.tasks]);
  } }, "More"))));
}
function TaskView({ id }) {
  let [task] = d2(() => new Asked(() => get(`tasks/${encodeURIComponent(id)}`), 1e3));
  A2(() => watch2(task), []);
  let known = task.value.value;
  return known ? k($, null, k("div", { class: "title" }, k("div", { class: "grow" }, k("div", { class: "faint crumb" }, k("a", { href: "#/tasks" }, "Tasks"), " /"), k("h1", { class: "name-line" }, k(Glyph, { mark: mark(known), label: "" }), " ", k("bdi", null, plain(id)), " ", k("span", { class: "pill" }, word(known)))), k("div", { class: "acts" }, known.state !== "COMPLETED" && k("button", { type: "button", onClick: () => change(known, "cancel") }, "Cancel…"), isFailed(known) && k("button", { type: "button", class: "main", onClick: () => change(known, "retry") }, "Try again…"))), k("div", { class: "cols" }, k("div", null, k(Panel, { title: "Attempts" }, k("div", { class: "scroll" }, k("table", null, k("thead", null, k("tr", null, k("th", null, "Attempt"), k("th", null, "State"), k("th", null, "Worker"), k("th", null, "Taken"), k("th", null, "Over"), k("th", null, "Why"))), k("tbody", null, known.executions.map((one) => k("tr", null, k("td", { class: "num" }, one.attempt), k("td", null, one.status.toLowerCase().replace("_", " ")), k("td", { class: "cut" }, plain(one.lease_owner)), k("td", { class: "num" }, k(Time, { at: one.leased_at })), k("td", { class: "num" }, k(Time, { at: one.finished_at })), k("td", null, plain(one.reason ?? ""))))))), known.executions.length === 0 && k("p", { class: "note" }, "Not yet."))), k("aside", null, k(Panel, { title: "Payload" }, k("pre", null, plain(JSON.stringify(known.payload, null, 2))))))) : k(Panel, { title: "Task" }, k("p", { class: "note" }, task.error.value ? plain(task.error.value.problem.detail) : "Asking krond…"));
}

// src/views/try.tsx
var FIRST = '0 3 * * * @tz(Europe/Paris) @win(after,1h) name=hello command="echo hello"', isYaml = (text) => /^\s*(jobs|defaults|calendars)\s*:/m.test(text);
function Try() {
  let [text, setText] = d2(route.value.query.get("text") ?? FIRST), [answer, setAnswer] = d2(null), [problem, setProblem] = d2("");
  return A2(() => {
    let mine = new AbortController(), timer = setTimeout(() => {
      post("try", { text, source: isYaml(text) ? "yaml" : "kron" }).then((told) => {
        mine.signal.aborted || (setAnswer(told), setProblem(""));
      }).catch((error) => {
        mine.signal.aborted || (setAnswer(null), setProblem(error.message));
      });
    }, 400);
    return () => {
      mine.abort(), clearTimeout(timer);
    };
  }, [text]), k($, null, k("div", { class: "bar" }, k("h1", null, "Try"), k("span", { class: "soft" }, "Nothing here is saved: files are the truth. Copy what you like into a .kron or YAML file.")), k("div", { class: "cols" }, k("div", null, k(Panel, { title: "Lines of a job file", more: k("button", { type: "button", onClick: () => {
    navigator.clipboard.writeText(text).then(() => say("Copied."));
  } }, "Copy") }, k("textarea", { class: "mono", rows: 7, spellcheck: !1, "aria-label": "Lines of a job file", value: text, onInput: (event) => setText(event.currentTarget.value) }), problem && k("p", { class: "alarm", role: "status" }, plain(problem)), answer && answer.problems.length > 0 && k(Problems, { answer })), answer && answer.jobs.length > 0 && k(OnTop, { answer })), k("aside", null, answer?.jobs.map((job, i4) => k(Panel, { title: plain(job.identity), class: i4 > 0 ? "gap" : "" }, k("p", { class: "note" }, sentence(job.words), job.replaces ? " There is a job of this name: it would be replaced." : ""), k("ol", { class: "list compact" }, job.next.slice(0, 20).map((period) => k("li", null, k("span", null), k("span", { class: "num" }, period.chosenTime ? k(Time, { at: period.chosenTime }) : k("span", { class: "c-none" }, "no time")), k("span", { class: "faint num" }, period.chosenTime ? k(Time, { at: period.chosenTime, ago: !0 }) : "")))), job.next.length === 0 && k("p", { class: "note" }, plain(job.nextProblem ?? "It has no periods that a clock foresees.")))), answer && answer.jobs.length === 0 && answer.problems.length === 0 && k(Panel, { title: "Nothing" }, k("p", { class: "note" }, "There is no job in these lines.")))));
}
function Problems({ answer }) {
  return k("div", { class: "prose", role: "status" }, answer.problems.map((found) => k("div", { class: "problem" }, found.source && k("pre", null, `${plain(found.source)}
${" ".repeat(Math.max(0, found.column - 1))}^`), k("p", { class: found.severity === "error" ? "c-fail" : found.severity === "warning" ? "c-skip" : "soft" }, found.line > 0 ? `${found.line}:${found.column}: ` : "", found.severity, ": ", plain(found.message)), found.hint && k("p", { class: "soft" }, plain(found.hint)))));
}
var STEPS2 = [60, 300, 900, 1800, 3600, 7200, 14400];
function OnTop({ answer }) {
  let times = answer.jobs.flatMap((job) => job.next.flatMap((period) => period.chosenTime ? [Date.parse(period.chosenTime)] : [])), last2 = Math.min(Math.max(now() + 864e5, ...times), Date.parse(answer.load.until)), step2 = STEPS2.find((candidate) => (last2 - now()) / 1e3 / candidate <= 400) ?? 14400, columns = Math.ceil((last2 - now()) / 1e3 / step2) + 1, [here, setHere] = d2(null);
  A2(() => {
    let mine = new AbortController(), begin = Math.floor(now() / 1e3 / step2) * step2 * 1e3;
    return get(`load?from=${encodeURIComponent(utc(begin))}&for=${columns * step2}s&step=${step2}s`, mine.signal).then((load2) => setHere({ from: begin, starts: load2.after.starts })).catch(() => {
    }), () => mine.abort();
  }, [answer, columns, step2]);
  let draw2 = b(
    (width) => {
      if (!here) return { shapes: [], height: LOAD_HEIGHT + 12 };
      let [from, until] = [here.from, here.from + columns * step2 * 1e3], scale = new Scale(from, until, 60, width - 16), together = here.starts.slice();
      for (let t4 of times) {
        let column = Math.floor((t4 - from) / 1e3 / step2);
        column < together.length && (together[column] = (together[column] ?? 0) + 1);
      }
      let shapes = load({ from, until, before: together, after: here.starts, actual: [] }, scale, now(), 1, LOAD_HEIGHT, "with these lines");
      for (let tick of ticks(scale, 90)) scale.x(tick.t) < scale.right - 24 && shapes.push({ kind: "text", x: scale.x(tick.t), y: LOAD_HEIGHT + 4, text: tick.label, fill: "faint", align: "center" });
      return { shapes, height: LOAD_HEIGHT + 12 };
    },
    [here, zone.value]
  ), told = answer.load;
  return k(Panel, { title: "On top of what runs here", class: "gap" }, k("p", { class: "note" }, "In ", duration(Date.parse(told.until) - Date.parse(told.from)), " these lines start ", counted(told.starts, "time"), ", the others ", counted(told.startsHere, "time"), ". That ", timesIn(answer.text), "."), times.length > 0 && k(Canvas, { draw: draw2, label: `Starts here, and with the next periods of these lines: ${answer.text}` }), times.length > 0 && k("p", { class: "note" }, k("span", { class: "key" }, k("i", { class: "k-after" }), "what runs here"), " ", k("span", { class: "key" }, k("i", { class: "k-before" }), "with the next ", Math.max(...answer.jobs.map((job) => job.next.length)), " periods of each line, per ", duration(step2 * 1e3))));
}

// src/main.tsx
var VIEWS = [["", "Overview"], ["jobs", "Jobs"], ["runs", "Runs"], ["tasks", "Tasks"], ["try", "Try"], ["cluster", "Cluster"]];
function Header() {
  let known = status.value, counts = { jobs: known?.jobs, tasks: known?.tasks ? known.tasks.pending + known.tasks.running : void 0 };
  return k("header", { class: "top" }, k("a", { class: "skip", href: "#main", onClick: (event) => {
    event.preventDefault(), document.getElementById("main")?.focus();
  } }, "To the content"), k("a", { class: "logo", href: "#/" }, k("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" }, k("rect", { y: "7", width: "16", height: "2.5", rx: "1.2", fill: "var(--after)", opacity: ".45" }), k("rect", { x: "9", y: "2.5", width: "3", height: "11", rx: "1.5", fill: "var(--after)" })), "Kron"), k("span", { class: "host" }, session.value?.host), k("nav", { "aria-label": "Views" }, VIEWS.filter(([view]) => view !== "cluster" || known?.cluster).map(([view, name]) => k("a", { href: `#/${view}`, "aria-current": route.value.view === view ? "page" : void 0 }, name, counts[view] ? k("span", { class: "count" }, counts[view].toLocaleString("en-US")) : null))), k("span", { class: "grow" }), k("button", { type: "button", class: "find", onClick: () => palette.value = !0 }, k("span", null, "Find a job, run or action"), k("kbd", null, "Ctrl K")), k("span", { class: "seg hide", role: "group", "aria-label": "Times" }, zones().map((which) => k("button", { type: "button", "aria-pressed": zone.value === which || which === "local" && !zones().includes(zone.value), onClick: () => chooseZone(which) }, zoneName(which)))), k("button", { type: "button", class: "quiet hide", onClick: nextTheme, "aria-label": `Colours: ${theme.value}`, title: `Colours: ${theme.value}` }, "◐"), k("button", { type: "button", class: "quiet hide", onClick: () => help.value = !0, "aria-label": "Keys" }, "?"), k(Live, null));
}
function Live() {
  return tickSecond.value, awaySince.value === null ? k("span", { class: "live num", title: "krond's time" }, k("i", null), status.value ? seconds(now()) : "…") : k("span", { class: "live away num" }, k("i", null), "away");
}
var IN_FORCE = { none: "no job of it runs", earlier: "its earlier jobs stay in force", rest: "its other jobs run" };
function Alarms() {
  let known = status.value, files = known?.jobFiles;
  return k("div", { role: "alert" }, awaySince.value !== null && k("p", { class: "alarm" }, "krond is away since ", seconds(awaySince.value), "; trying. What you see is from before."), known && !known.ready && awaySince.value === null && k("p", { class: "alarm" }, "krond is not ready", known.stopping ? ": it is stopping" : "", ". Reading works, changing may not."), files?.reloadError && k("p", { class: "alarm" }, plain(files.reloadError)), (files?.refused ?? []).slice(0, 3).map((file) => k("p", { class: "alarm" }, plain(`${file.file}${file.line ? `:${file.line}:${file.column}` : ""}: ${file.reason}`), "; ", IN_FORCE[file.inForce], ".", " ", k("button", { type: "button", class: "quiet", onClick: reload }, "Reload…"))));
}
function View() {
  let { view, id } = route.value;
  return view === "jobs" ? id ? k(JobView, { key: id, name: id }) : k(Jobs, null) : view === "runs" ? id ? k(RunView, { key: id, id }) : k(Runs, null) : view === "tasks" ? id ? k(TaskView, { key: id, id }) : k(Tasks, null) : view === "try" ? k(Try, null) : view === "cluster" ? k(Cluster, null) : k(Overview, null);
}
function App() {
  let { view, id } = route.value;
  return A2(() => {
    let name = VIEWS.find(([key]) => key === view)?.[1] ?? "Overview";
    document.title = `${id ? plain(id) : name} · Kron`, document.getElementById("main")?.scrollTo(0, 0);
  }, [view, id]), login.value === "out" ? k(Login, null) : login.value === "unknown" ? k("p", { class: "note", role: "status" }, awaySince.value === null ? "" : "kron web does not answer; trying.") : k($, null, k(Header, null), k("main", { id: "main", tabIndex: -1 }, k(Alarms, null), k(View, null)), k(Ask, null), k(Palette, null), k(Help, null), k(Toasts, null));
}
function step(by) {
  let rows = [...document.querySelectorAll("main tbody tr, main .list li")].flatMap((row) => row.querySelector("a, button") ?? []), at = rows.findIndex((row) => row === document.activeElement), next = rows[at < 0 ? by > 0 ? 0 : rows.length - 1 : Math.min(rows.length - 1, Math.max(0, at + by))];
  next?.focus(), next?.scrollIntoView({ block: "nearest" });
}
var goes = 0;
addEventListener("keydown", (event) => {
  if ((event.metaKey || event.ctrlKey) && event.key === "k" && login.value === "in") {
    event.preventDefault(), palette.value = !0;
    return;
  }
  if (event.target instanceof Element && event.target.closest("dialog") || (event.key === "Escape" && isTyping(event) && event.target.blur(), isTyping(event) || document.querySelector("dialog[open]") || login.value !== "in")) return;
  let target = performance.now() - goes < 1500 ? { o: "/", j: "/jobs", r: "/runs", t: "/tasks", y: "/try", c: "/cluster" }[event.key] : void 0;
  if (goes = event.key === "g" ? performance.now() : 0, target) go(target);
  else if (event.key === "/") document.getElementById("filter") ? document.getElementById("filter").focus() : palette.value = !0;
  else if (event.key === "?") help.value = !0;
  else if (event.key === "z") nextZone();
  else if (event.key === "b") toggleSpread();
  else if ((event.key === "j" || event.key === "k") && route.value.view + route.value.id !== "jobs") step(event.key === "j" ? 1 : -1);
  else if (event.key === "Escape" && route.value.id) go(`/${route.value.view}`);
  else return;
  event.preventDefault(), target && event.stopImmediatePropagation();
});
addEventListener("hashchange", () => {
  location.hash.startsWith("#code=") && resume();
});
startData();
startLive(() => route.value.view === "" ? pictureAsked.once() : Promise.resolve());
resume();
Q(k(App, null), document.getElementById("app"));
