// node_modules/preact/dist/preact.mjs
var n;
var t;
var r;
var u;
var i;
var f;
var o;
var e;
var l;
var c;
var a;
var s;
var h = /* @__PURE__ */ Symbol.for("pv");
var p = {};
var y = [];
var v = /^m(i|n|o|s|text|space)$/;
var w = Array.isArray;
var d = y.slice;
var _ = Object.assign;
function g(n3) {
  n3 && n3.parentNode && n3.remove();
}
function k(n3, t4, r4) {
  var u4, i4, f5, o5 = {}, e4 = arguments.length;
  for (f5 in t4) "key" == f5 ? u4 = t4[f5] : "ref" == f5 && "function" != typeof n3 ? i4 = t4[f5] : o5[f5] = t4[f5];
  return e4 > 2 && (o5.children = e4 > 3 ? d.call(arguments, 2) : r4), m(n3, o5, u4, i4, null);
}
function m(r4, u4, i4, f5, o5) {
  var e4 = { type: r4, props: u4, key: i4, ref: f5, __k: null, __: null, __b: 0, __e: null, __c: null, constructor: h, __v: o5 || ++t, __i: -1, __u: 0 };
  return !o5 && n.vnode && n.vnode(e4), e4;
}
function $(n3) {
  return n3.children;
}
function x(n3, t4) {
  this.props = n3, this.context = t4, this.__g = 0;
}
function S(n3, t4) {
  if (null == t4) return n3.__ && S(n3.__, n3.__i + 1);
  for (var r4; t4 < n3.__k.length; t4++) if ((r4 = n3.__k[t4]) && r4.__e) return r4.__e;
  return "function" != typeof n3.type || n3.props.__P ? null : S(n3);
}
function C(t4) {
  var r4, u4 = t4.__v, i4 = u4.__e, f5 = [], o5 = [], e4 = t4.__P;
  e4 && ((r4 = _({ constructor: h }, u4)).__v = u4.__v + 1, n.vnode && n.vnode(r4), z(e4, r4, u4, t4.__n, e4.namespaceURI, 32 & u4.__u ? [i4] : null, f5, i4 || S(u4), 32 & u4.__u, o5), r4.__v = u4.__v, r4.__.__k[r4.__i] = r4, E(f5, r4, o5), u4.__ = u4.__e = null, r4.__e != i4 && j(r4));
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
function I(n3, t4, r4, u4, i4, f5, o5, e4, l4, c4, a5) {
  var s4, h5, v4, w5, d5, _4, g5 = u4.__k || y, k4 = t4.length;
  for (l4 = q(r4, t4, g5, l4, k4), s4 = 0; s4 < k4; s4++) null != (v4 = r4.__k[s4]) && (h5 = ~v4.__i && g5[v4.__i] || p, v4.__i = s4, _4 = z(n3, v4, h5, i4, f5, o5, e4, l4, c4, a5), w5 = v4.__e, (h5.ref != v4.ref || 8 & h5.__u) && (h5.ref && G(h5.ref, null, v4, h5), v4.ref && a5.push(v4.ref, v4.__c || w5, v4)), d5 = d5 || w5, 4 & v4.__u ? (l4 = A(v4, l4, n3, !h5.__v), h5.__e && (h5.__e = null)) : "function" == typeof v4.type && void 0 !== _4 ? l4 = _4 : w5 && (l4 = w5.nextSibling), v4.__u &= -21);
  return r4.__e = d5, l4;
}
function q(n3, t4, r4, u4, i4) {
  var f5, o5, e4, l4, c4, a5, s4, p5, y5, v4 = r4.length, d5 = v4, _4 = 0, g5 = 0, k4 = n3.__k = Array(i4);
  for (f5 = 0; f5 < i4; f5++) null != (o5 = t4[f5]) && "boolean" != typeof o5 && "function" != typeof o5 ? ("object" != typeof o5 || o5.constructor === String ? o5 = k4[f5] = m(null, o5) : w(o5) ? o5 = k4[f5] = m($, { children: o5 }) : o5.constructor === h && o5.__b ? o5 = k4[f5] = m(o5.type, o5.props, o5.key, o5.ref, o5.__v) : k4[f5] = o5, l4 = f5 + _4, o5.__ = n3, o5.__b = n3.__b + 1, e4 = null, ~(c4 = o5.__i = P(o5, r4, l4, d5)) && (d5--, (e4 = r4[c4]) && (e4.__u |= 2)), e4 && e4.__v ? (o5.__u |= 16, c4 == l4 - 1 ? _4-- : c4 == l4 + 1 ? _4++ : c4 != l4 && (c4 > l4 ? _4-- : _4++, g5 = 1)) : (~c4 || (i4 > v4 ? _4-- : i4 < v4 && _4++), "function" != typeof o5.type && (o5.__u |= 4))) : k4[f5] = null;
  if (g5) {
    for (a5 = [], s4 = [], f5 = 0; f5 < i4; f5++) if ((o5 = k4[f5]) && 16 & o5.__u) {
      for (_4 = 0, p5 = a5.length; _4 < p5; ) a5[y5 = _4 + p5 >> 1] < o5.__i ? _4 = y5 + 1 : p5 = y5;
      a5[_4] = o5.__i, s4[f5] = _4 + 1;
    }
    for (_4 = a5.length; f5--; ) s4[f5] && (s4[f5] == _4 ? _4-- : k4[f5].__u |= 4);
  }
  if (d5) for (f5 = 0; f5 < v4; f5++) !(e4 = r4[f5]) || 2 & e4.__u || (e4.__e == u4 && (u4 = S(e4)), J(e4, e4));
  return u4;
}
function A(n3, t4, r4, u4) {
  var i4, f5, o5, e4;
  if ("function" == typeof n3.type) {
    if (n3.props.__P) return t4;
    if (i4 = n3.__k) for (f5 = 0; f5 < i4.length; f5++) i4[f5] && (i4[f5].__ = n3, t4 = A(i4[f5], t4, r4, false));
    return t4;
  }
  for (t4 && !t4.parentNode && (t4 = S(n3)) && !t4.parentNode && (t4 = null), o5 = n3.__e, e4 = t4; e4 && 8 == e4.nodeType; ) e4 = e4.nextSibling;
  for (o5 != e4 && (!u4 && r4.moveBefore && o5.parentNode ? r4.moveBefore(o5, t4) : r4.insertBefore(o5, t4 || null)), t4 = o5; (t4 = t4 && t4.nextSibling) && 8 == t4.nodeType && !t4.data.startsWith("$s"); ) ;
  return t4;
}
function P(n3, t4, r4, u4) {
  var i4, f5 = n3.key, o5 = n3.type, e4 = t4[r4], l4 = e4 && !(2 & e4.__u);
  if (null === e4 && null == f5 || l4 && f5 == e4.key && o5 == e4.type) return r4;
  if (u4 > (l4 ? 1 : 0)) {
    for (i4 = r4 - 1; i4 >= 0; i4--) if ((e4 = t4[i4]) && !(2 & e4.__u) && f5 == e4.key && o5 == e4.type) return i4;
    for (i4 = r4 + 1; i4 < t4.length; i4++) if ((e4 = t4[i4]) && !(2 & e4.__u) && f5 == e4.key && o5 == e4.type) return i4;
  }
  return -1;
}
function T(n3, t4, r4) {
  null == r4 && (r4 = ""), "-" == t4[0] ? n3.setProperty(t4, r4) : n3[t4] = r4;
}
function N(n3, t4, r4, u4, i4) {
  var f5, o5;
  if ("style" == t4) if ("string" == typeof r4) n3.style.cssText = r4;
  else {
    if ("string" == typeof u4 && (n3.style.cssText = u4 = ""), u4) for (t4 in u4) r4 && t4 in r4 || T(n3.style, t4);
    if (r4) for (t4 in r4) u4 && r4[t4] == u4[t4] || T(n3.style, t4, r4[t4]);
  }
  else if ("o" == t4[0] && "n" == t4[1]) "function" != typeof r4 && (r4 = null), "function" != typeof u4 && (u4 = null), (n3.__e || (n3.__e = {}))[t4] = r4, r4 && u4 || (o5 = a[t4] || (a[t4] = V(t4)), (n3.__a || (n3.__a = {}))[t4] = c, f5 = t4 != (t4 = t4.replace(l, "$1")), (t4 = t4.slice(2))[0] < "a" && (t4 = t4.toLowerCase()), r4 ? n3.addEventListener(t4, o5, f5) : n3.removeEventListener(t4, o5, f5));
  else {
    if ("http://www.w3.org/2000/svg" == i4) t4 = t4.replace(/xlink(H|:h)/, "h").replace(/sName$/, "s");
    else if ("width" != t4 && "height" != t4 && "href" != t4 && "list" != t4 && "form" != t4 && "tabIndex" != t4 && "download" != t4 && "rowSpan" != t4 && "colSpan" != t4 && "role" != t4 && "popover" != t4 && t4 in n3) try {
      return void (n3[t4] = null == r4 ? "" : r4);
    } catch (n4) {
    }
    if ("function" == typeof r4) return;
    null == r4 || false === r4 && "-" != t4[4] ? n3.removeAttribute(t4) : n3.setAttribute(t4, "popover" == t4 && 1 == r4 ? "" : r4);
  }
}
function V(t4) {
  return function(r4) {
    var u4 = this.__e;
    if (u4) {
      if (u4 = u4[t4], null == r4[e]) r4[e] = c++;
      else if (r4[e] < this.__a[t4]) return;
      return u4(n.event ? n.event(r4) : r4);
    }
  };
}
function z(t4, r4, u4, i4, f5, o5, e4, l4, c4, a5) {
  var s4, p5, v4, d5, k4, b4, m5, M2, C3, j3, L2, H2, q2, A4, O2, P2, T4, N2, V2 = r4.type;
  if (r4.constructor !== h) return null;
  128 & u4.__u && (c4 = 32 & u4.__u, s4 = u4.__c.__z) && (r4.__u |= c4, p5 = o5 = [], 8 == s4.nodeType ? l4 = B(s4, o5) : o5.push(s4), l4 = o5[0] || l4), (s4 = n.__b) && s4(r4);
  n: if ("function" == typeof V2) {
    v4 = e4.length;
    try {
      if (M2 = r4.props, C3 = (s4 = V2.prototype) && s4.render, j3 = (s4 = V2.contextType) && i4[s4.__c], L2 = s4 ? j3 ? j3.props.value : s4.__ : i4, (d5 = u4.__c) ? (r4.__c = d5, 2 & d5.__g && (d5.__g |= 1)) : (C3 ? r4.__c = d5 = new V2(M2, L2) : (r4.__c = d5 = new x(M2, L2), d5.constructor = V2, d5.render = K), j3 && j3.sub(d5), d5.state || (d5.state = {}), d5.__n = i4, d5.__g |= 8, d5.__h = [], d5.__k = []), C3 && (d5.__s || (d5.__s = d5.state), V2.getDerivedStateFromProps && (d5.__s == d5.state && (d5.__s = _({}, d5.__s)), _(d5.__s, V2.getDerivedStateFromProps(M2, d5.__s)))), k4 = d5.props, b4 = d5.state, d5.__v = r4, u4.__c) {
        if (M2 !== k4 && C3 && !V2.getDerivedStateFromProps && d5.componentWillReceiveProps && d5.componentWillReceiveProps(M2, L2), r4.__v == u4.__v && !(8 & d5.__g) || !(4 & d5.__g) && d5.shouldComponentUpdate && false === d5.shouldComponentUpdate(M2, d5.__s, L2)) {
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
      do {
        d5.__g &= -9, H2 && H2(r4), s4 = d5.render(d5.props, d5.state = d5.__s, d5.context);
      } while (8 & d5.__g && ++q2 < 25);
      C3 && (y.push.apply(d5.__h, d5.__k), d5.__k = []), d5.state = d5.__s, d5.getChildContext && (i4 = _({}, i4, d5.getChildContext())), C3 && u4.__c && d5.getSnapshotBeforeUpdate && (m5 = d5.getSnapshotBeforeUpdate(k4, b4)), A4 = s4 && s4.type === $ && null == s4.key ? s4.props.children : s4, M2.__P && (s4 = l4, f5 = (t4 = M2.__P).namespaceURI, c4 = o5 = null, u4.props && u4.props.__P != t4 && (u4.__k.some(function(n3) {
        n3 && J(n3, n3);
      }), u4.__k = null), l4 = u4.__k ? S(u4, 0) : null), l4 = I(t4, w(A4) ? A4 : [A4], r4, u4, i4, f5, o5, e4, l4, c4, a5), M2.__P && (r4.__e = null, l4 = s4), r4.__u &= -161, p5 && p5.some(g), d5.__h.length && e4.push(d5), 1 & d5.__g && (d5.__g &= -4);
    } catch (t5) {
      if (e4.length = v4, r4.__v = null, c4 || o5) if (t5 && t5.then) {
        if (r4.__u |= 128 | c4, o5) {
          for (~(T4 = o5.indexOf(l4 || void 0)) || (T4 = o5.length); (N2 = o5[T4 - 1]) && 8 == N2.nodeType; ) T4--;
          for (; T4 < o5.length; T4++) if (N2 = o5[T4]) if (o5[T4] = null, O2) {
            if (N2 == P2) break;
          } else {
            if (8 != N2.nodeType) break;
            N2.data.startsWith("$s") && (P2 = B(O2 = N2));
          }
        }
        if (!O2) {
          for (; l4 && 8 == l4.nodeType && l4.nextSibling; ) l4 = l4.nextSibling;
          O2 = l4;
        }
        (s4 = B(O2 = r4.__c.__z || (r4.__c.__z = O2))) ? (r4.__e = O2, l4 = s4) : r4.__e = l4, l4 = l4 && l4.nextSibling;
      } else o5 && o5.some(g);
      else r4.__e = u4.__e;
      r4.__k || (r4.__k = u4.__k || []), t5 && t5.then || D(r4), n.__e(t5, r4, u4);
    }
  } else l4 = r4.__e = F(u4.__e, r4, u4, i4, f5, o5, e4, c4, a5, t4);
  return (s4 = n.diffed) && s4(r4), l4;
}
function B(n3, t4) {
  if (n3 && 8 == n3.nodeType && n3.data.startsWith("$s")) for (var r4 = 1; n3 = n3.nextSibling; ) {
    if (8 == n3.nodeType) {
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
function F(t4, r4, u4, i4, f5, o5, e4, l4, c4, a5) {
  var s4, h5, y5, _4, k4, b4, m5, M2, $2 = u4.props || p, x3 = r4.props, C3 = r4.type;
  if ("svg" == C3 ? f5 = "http://www.w3.org/2000/svg" : "math" == C3 ? f5 = "http://www.w3.org/1998/Math/MathML" : f5 || (f5 = "http://www.w3.org/1999/xhtml"), o5) {
    for (s4 = 0; s4 < o5.length; s4++) if ((k4 = o5[s4]) && (C3 ? k4.localName == C3 : 3 == k4.nodeType)) {
      t4 = k4, o5[s4] = null;
      break;
    }
  }
  if (!t4) {
    if (M2 = a5.ownerDocument || document, !C3) return M2.createTextNode(x3);
    t4 = M2.createElementNS(f5, C3, x3.is ? x3 : a5), l4 && (n.__m && n.__m(r4, o5), l4 = false), o5 = null;
  }
  if (C3) {
    if (a5 = "template" == C3 && t4.content || t4, o5 = "textarea" == C3 && null != x3.defaultValue ? null : o5 && d.call(a5.childNodes), !l4 && o5) for ($2 = {}, s4 = 0; s4 < t4.attributes.length; s4++) $2[(k4 = t4.attributes[s4]).name] = k4.value;
    for (s4 in $2) k4 = $2[s4], "dangerouslySetInnerHTML" == s4 ? y5 = k4 : "children" == s4 || s4 in x3 || "value" == s4 && "defaultValue" in x3 || "checked" == s4 && "defaultChecked" in x3 || N(t4, s4, null, k4, f5);
    for (s4 in x3) k4 = x3[s4], "children" == s4 ? _4 = k4 : "dangerouslySetInnerHTML" == s4 ? h5 = k4 : "value" == s4 ? b4 = k4 : "checked" == s4 ? m5 = k4 : l4 && "function" != typeof k4 || $2[s4] === k4 || N(t4, s4, k4, $2[s4], f5);
    h5 ? (l4 || y5 && (h5.__html == y5.__html || h5.__html == t4.innerHTML) || (t4.innerHTML = h5.__html), r4.__k = []) : (y5 && (t4.textContent = ""), ("foreignObject" == C3 || "http://www.w3.org/1998/Math/MathML" == f5 && v.test(C3)) && (f5 = "http://www.w3.org/1999/xhtml"), I(a5, w(_4) ? _4 : [_4], r4, u4, i4, f5, o5, e4, o5 ? o5[0] : u4.__k && S(u4, 0), l4, c4), o5 && o5.some(g)), l4 && "textarea" != C3 || (s4 = "value", "progress" == C3 && null == b4 ? t4.removeAttribute(s4) : null == b4 || b4 === t4[s4] && ("progress" != C3 || b4) || N(t4, s4, b4, $2[s4], f5), s4 = "checked", null != m5 && m5 != t4[s4] && N(t4, s4, m5, $2[s4], f5));
  } else $2 === x3 || l4 && t4.data == x3 || (t4.data = x3);
  return t4;
}
function G(t4, r4, u4, i4) {
  try {
    "function" == typeof t4 ? r4 ? r4.__x = t4(r4) || 1 : i4 && (i4 = i4.__c || i4.__e) && (r4 = i4.__x) && (i4.__x = null, "function" == typeof r4 ? r4() : t4(null)) : t4.current = r4;
  } catch (t5) {
    n.__e(t5, u4);
  }
}
function J(t4, r4, u4) {
  var i4, f5, o5, e4;
  if (n.unmount && n.unmount(t4), !(i4 = t4.ref) || i4.current && i4.current != t4.__e || G(i4, null, r4, t4), i4 = t4.__c) {
    if (i4.componentWillUnmount) try {
      i4.componentWillUnmount();
    } catch (t5) {
      n.__e(t5, r4);
    }
    i4.__P = i4.__n = null;
  }
  if (i4 = t4.__k) for (e4 = 0; e4 < i4.length; e4++) i4[e4] && J(i4[e4], r4, "function" != typeof t4.type || u4 && !t4.props.__P);
  !u4 && (i4 = t4.__c) && (i4 = i4.__z) && (f5 = B(i4, o5 = [])) && (i4 == t4.__e && o5.some(g), g(f5), g(i4)), u4 || g(t4.__e), t4.__e = t4.__c = t4.__ = null;
}
function K(n3, t4, r4) {
  return this.constructor(n3, r4);
}
function Q(t4, r4) {
  var u4, i4, f5, o5;
  n.__ && n.__(t4, r4), 9 == r4.nodeType && (r4 = r4.documentElement), i4 = (u4 = t4 && 32 & t4.__u) ? null : r4.__k, r4.__k = m($, { children: [t4] }), f5 = [], o5 = [], z(r4, r4.__k, i4 || p, p, r4.namespaceURI, i4 ? null : r4.firstChild ? d.call(r4.childNodes) : null, f5, i4 ? i4.__e : r4.firstChild, u4, o5), E(f5, r4.__k, o5), r4.__k.props.children = null;
}
n = { __e: function(n3, t4, r4, u4) {
  for (var i4, o5, e4; t4 = t4.__; ) if ((i4 = t4.__c) && !(1 & i4.__g)) {
    i4.__g |= 4;
    try {
      if ((e4 = (o5 = i4.constructor) && o5.getDerivedStateFromError) && i4.setState(o5.getDerivedStateFromError(n3)), i4.componentDidCatch && (i4.componentDidCatch(n3, u4 || {}), e4 = 1), e4 && 8 & i4.__g) return void (i4.__g |= 2);
    } catch (t5) {
      n3 = t5;
    }
  }
  throw f = 0, n3;
} }, t = 0, r = function(n3) {
  return null != n3 && n3.constructor === h;
}, x.prototype.setState = function(n3, t4) {
  var r4 = this.__s;
  r4 && r4 != this.state || (r4 = this.__s = _({}, this.state)), "function" == typeof n3 && (n3 = n3(_({}, r4), this.props)), n3 && (_(r4, n3), this.__v && (t4 && this.__k.push(t4), L(this)));
}, x.prototype.forceUpdate = function(n3) {
  this.__v && (this.__g |= 4, n3 && this.__h.push(n3), L(this));
}, x.prototype.render = $, u = [], f = 0, o = function(n3, t4) {
  return n3.__v.__b - t4.__v.__b;
}, e = /* @__PURE__ */ Symbol(), l = /(PointerCapture)$|Capture$/i, c = 0, a = {}, s = 0;

// node_modules/preact/hooks/dist/hooks.mjs
var t2;
var r2;
var u2;
var i2;
var o2 = Object.is;
var f2 = 0;
var c2 = [];
var e2 = [];
var a2 = n;
var v2 = a2.__b;
var l2 = a2.__r;
var m2 = a2.diffed;
var h2 = a2.__c;
var s2 = a2.unmount;
var p2 = a2.__;
function y2(n3, t4) {
  a2.__h && a2.__h(r2, n3, f2 || t4), f2 = 0;
  var u4 = r2.__H || (r2.__H = { __: [], __h: [] });
  return n3 >= u4.__.length && u4.__.push({}), u4.__[n3];
}
function d2(n3) {
  return f2 = 1, _2(G2, n3);
}
function _2(n3, u4, i4) {
  var f5 = y2(t2++, 2);
  if (f5.t = n3, !f5.__c && (f5.__ = [i4 ? i4(u4) : G2(void 0, u4), function(n4) {
    var t4 = (f5.__N || f5.__)[0], r4 = f5.t(t4, n4);
    o2(t4, r4) || (f5.__N = [r4, f5.__[1]], f5.__c.setState({}));
  }], f5.__c = r2, !r2.__f)) {
    r2.__f = true;
    var c4 = r2.shouldComponentUpdate;
    r2.shouldComponentUpdate = function(n4, t4, r4) {
      var u5 = this.__H;
      if (!u5) return true;
      var i5 = false, f6 = this.props != n4;
      if (u5.__.some(function(n5) {
        n5.__N && (i5 = true, o2(n5.__[0], n5.__N[0]) || (f6 = true));
      }), c4) {
        var e4 = c4.call(this, n4, t4, r4);
        return i5 ? e4 || f6 : e4;
      }
      return !i5 || f6;
    };
  }
  return f5.__;
}
function A2(n3, u4) {
  var i4 = y2(t2++, 3);
  !a2.__s && E2(i4.__H, u4) && (i4.__P = true, i4.__ = n3, i4.u = u4, r2.__H.__h.push(i4));
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
        if (void 0 === r4) {
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
var k2 = "function" == typeof requestAnimationFrame;
function z2(n3) {
  var t4, r4 = function() {
    clearTimeout(u4), k2 && cancelAnimationFrame(t4), setTimeout(n3);
  }, u4 = setTimeout(r4, 35);
  k2 && (t4 = requestAnimationFrame(r4));
}
function B2(n3) {
  1 != n3 && i2 == a2.requestAnimationFrame || ((i2 = a2.requestAnimationFrame) || z2)(g2);
}
function C2(n3) {
  var t4 = r2, u4 = n3.__c;
  "function" == typeof u4 && (n3.__c = void 0, u4()), r2 = t4;
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
  return "function" == typeof t4 ? t4(n3) : t4;
}

// node_modules/@preact/signals-core/dist/signals-core.module.js
var i3 = /* @__PURE__ */ Symbol.for("preact-signals");
function t3() {
  if (!(v3 > 1)) {
    var i4, t4 = false;
    !(function() {
      var i5 = c3;
      c3 = void 0;
      while (void 0 !== i5) {
        var t5 = i5.S;
        if (t5.v === i5.v) {
          for (var r5 = t5.t; void 0 !== r5; r5 = r5.x) if (r5.i === i5.i) r5.i = t5.i;
        }
        i5 = i5.o;
      }
    })();
    while (void 0 !== h3) {
      var r4 = h3;
      h3 = void 0;
      s3++;
      while (void 0 !== r4) {
        var n3 = r4.u;
        r4.u = void 0;
        r4.f &= -3;
        if (!(8 & r4.f) && w3(r4)) try {
          r4.c();
        } catch (r5) {
          if (!t4) {
            i4 = r5;
            t4 = true;
          }
        }
        r4 = n3;
      }
    }
    s3 = 0;
    v3--;
    if (t4) throw i4;
  } else v3--;
}
function r3(i4) {
  if (v3 > 0) return i4();
  u3 = ++e3;
  v3++;
  try {
    return i4();
  } finally {
    t3();
  }
}
var n2;
var o3 = void 0;
function f3(i4) {
  var t4 = o3, r4 = n2;
  o3 = void 0;
  n2 = void 0;
  try {
    return i4();
  } finally {
    o3 = t4;
    n2 = r4;
  }
}
var h3 = void 0;
var v3 = 0;
var s3 = 0;
var e3 = 0;
var u3 = 0;
var c3 = void 0;
var a3 = 0;
function d3(i4) {
  if (void 0 !== o3) {
    var t4 = i4.n;
    if (void 0 === t4 || t4.t !== o3) {
      t4 = { i: 0, S: i4, p: o3.s, n: void 0, t: o3, e: void 0, x: void 0, r: t4 };
      if (void 0 !== o3.s) o3.s.n = t4;
      o3.s = t4;
      i4.n = t4;
      if (32 & o3.f) i4.S(t4);
      return t4;
    } else if (-1 === t4.i) {
      t4.i = 0;
      if (void 0 !== t4.n) {
        t4.n.p = t4.p;
        if (void 0 !== t4.p) t4.p.n = t4.n;
        t4.p = o3.s;
        t4.n = void 0;
        o3.s.n = t4;
        o3.s = t4;
      }
      return t4;
    }
  }
}
function l3(i4, t4) {
  this.v = i4;
  this.i = 0;
  this.n = void 0;
  this.t = void 0;
  this.l = 0;
  this.W = null == t4 ? void 0 : t4.watched;
  this.Z = null == t4 ? void 0 : t4.unwatched;
  this.name = null == t4 ? void 0 : t4.name;
}
l3.prototype.brand = i3;
l3.prototype.h = function() {
  return true;
};
l3.prototype.S = function(i4) {
  var t4 = this, r4 = this.t;
  if (r4 !== i4 && void 0 === i4.e) {
    i4.x = r4;
    this.t = i4;
    if (void 0 !== r4) r4.e = i4;
    else f3(function() {
      var i5;
      null == (i5 = t4.W) || i5.call(t4);
    });
  }
};
l3.prototype.U = function(i4) {
  var t4 = this;
  if (void 0 !== this.t) {
    var r4 = i4.e, n3 = i4.x;
    if (void 0 !== r4) {
      r4.x = n3;
      i4.e = void 0;
    }
    if (void 0 !== n3) {
      n3.e = r4;
      i4.x = void 0;
    }
    if (i4 === this.t) {
      this.t = n3;
      if (void 0 === n3) f3(function() {
        var i5;
        null == (i5 = t4.Z) || i5.call(t4);
      });
    }
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
  if (void 0 !== i4) i4.i = this.i;
  return this.v;
}, set: function(i4) {
  if (i4 !== this.v) {
    if (s3 > 100) throw new Error("Cycle detected");
    !(function(i5) {
      if (0 !== v3 && 0 === s3) {
        if (i5.l !== u3) {
          i5.l = u3;
          c3 = { S: i5, v: i5.v, i: i5.i, o: c3 };
        }
      }
    })(this);
    this.v = i4;
    this.i++;
    a3++;
    v3++;
    try {
      for (var r4 = this.t; void 0 !== r4; r4 = r4.x) r4.t.N();
    } finally {
      t3();
    }
  }
} });
function y3(i4, t4) {
  return new l3(i4, t4);
}
function w3(i4) {
  for (var t4 = i4.s; void 0 !== t4; t4 = t4.n) if (t4.S.i !== t4.i || !t4.S.h() || t4.S.i !== t4.i) return true;
  return false;
}
function b2(i4) {
  for (var t4 = i4.s; void 0 !== t4; t4 = t4.n) {
    var r4 = t4.S.n;
    if (void 0 !== r4) t4.r = r4;
    t4.S.n = t4;
    t4.i = -1;
    if (void 0 === t4.n) {
      i4.s = t4;
      break;
    }
  }
}
function _3(i4) {
  var t4 = i4.s, r4 = void 0;
  while (void 0 !== t4) {
    var n3 = t4.p;
    if (-1 === t4.i) {
      t4.S.U(t4);
      if (void 0 !== n3) n3.n = t4.n;
      if (void 0 !== t4.n) t4.n.p = n3;
    } else r4 = t4;
    t4.S.n = t4.r;
    if (void 0 !== t4.r) t4.r = void 0;
    t4 = n3;
  }
  i4.s = r4;
}
function j2(i4, t4) {
  l3.call(this, void 0, t4);
  this.x = i4;
  this.s = void 0;
  this.g = a3 - 1;
  this.f = 4;
}
j2.prototype = new l3();
j2.prototype.h = function() {
  this.f &= -3;
  if (1 & this.f) return false;
  if (32 == (36 & this.f)) return true;
  this.f &= -5;
  if (this.g === a3) return true;
  this.g = a3;
  this.f |= 1;
  if (this.i > 0 && !w3(this)) {
    this.f &= -2;
    return true;
  }
  var i4 = o3;
  try {
    b2(this);
    o3 = this;
    var t4 = this.x();
    if (16 & this.f || this.v !== t4 || 0 === this.i) {
      this.v = t4;
      this.f &= -17;
      this.i++;
    }
  } catch (i5) {
    this.v = i5;
    this.f |= 16;
    this.i++;
  }
  o3 = i4;
  _3(this);
  this.f &= -2;
  return true;
};
j2.prototype.S = function(i4) {
  if (void 0 === this.t) {
    this.f |= 36;
    for (var t4 = this.s; void 0 !== t4; t4 = t4.n) t4.S.S(t4);
  }
  l3.prototype.S.call(this, i4);
};
j2.prototype.U = function(i4) {
  if (void 0 !== this.t) {
    l3.prototype.U.call(this, i4);
    if (void 0 === this.t) {
      this.f &= -33;
      for (var t4 = this.s; void 0 !== t4; t4 = t4.n) t4.S.U(t4);
    }
  }
};
j2.prototype.N = function() {
  if (!(2 & this.f)) {
    this.f |= 6;
    for (var i4 = this.t; void 0 !== i4; i4 = i4.x) i4.t.N();
  }
};
Object.defineProperty(j2.prototype, "value", { get: function() {
  if (1 & this.f) throw new Error("Cycle detected");
  var i4 = d3(this);
  this.h();
  if (void 0 !== i4) i4.i = this.i;
  if (16 & this.f) throw this.v;
  return this.v;
} });
function O(i4, t4) {
  return new j2(i4, t4);
}
function p3(i4) {
  var r4 = i4.j;
  i4.j = void 0;
  if ("function" == typeof r4) {
    v3++;
    var n3 = o3;
    o3 = void 0;
    try {
      r4();
    } catch (t4) {
      i4.f &= -2;
      i4.f |= 8;
      g3(i4);
      throw t4;
    } finally {
      o3 = n3;
      t3();
    }
  }
}
function g3(i4) {
  for (var t4 = i4.s; void 0 !== t4; t4 = t4.n) t4.S.U(t4);
  i4.x = void 0;
  i4.s = void 0;
  p3(i4);
}
function S2(i4) {
  if (o3 !== this) throw new Error("Out-of-order effect");
  _3(this);
  o3 = i4;
  this.f &= -2;
  try {
    if (8 & this.f) g3(this);
  } finally {
    t3();
  }
}
function m3(i4, t4) {
  this.x = i4;
  this.j = void 0;
  this.s = void 0;
  this.u = void 0;
  this.f = 32;
  this.name = null == t4 ? void 0 : t4.name;
  if (n2) n2.push(this);
}
m3.prototype.c = function() {
  var i4 = this.S();
  try {
    if (8 & this.f) return;
    if (void 0 === this.x) return;
    var t4 = this.x();
    if ("function" == typeof t4) this.j = t4;
  } finally {
    i4();
  }
};
m3.prototype.S = function() {
  if (1 & this.f) throw new Error("Cycle detected");
  this.f |= 1;
  this.f &= -9;
  p3(this);
  b2(this);
  v3++;
  var i4 = o3;
  o3 = this;
  return S2.bind(this, i4);
};
m3.prototype.N = function() {
  if (!(2 & this.f)) {
    this.f |= 2;
    this.u = h3;
    h3 = this;
  }
};
m3.prototype.d = function() {
  this.f |= 8;
  if (!(1 & this.f)) g3(this);
};
m3.prototype.dispose = function() {
  this.d();
};
function x2(i4, t4) {
  var r4 = new m3(i4, t4);
  try {
    r4.c();
  } catch (i5) {
    r4.d();
    throw i5;
  }
  var n3 = r4.d.bind(r4);
  n3[Symbol.dispose] = n3;
  return n3;
}

// node_modules/@preact/signals/dist/signals.module.js
var h4;
var d4;
var p4;
var m4 = "undefined" != typeof window && !!window.__PREACT_SIGNALS_DEVTOOLS__;
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
    p4 = void 0;
    n3();
  }
  p4 = i4 && i4.S();
}
function w4(i4) {
  var n3 = this, r4 = i4.data, t4 = useSignal(r4);
  t4.name = "ReactiveDom";
  t4.value = r4;
  var e4 = w2(function() {
    var i5 = n3, r5 = n3.__v;
    while (r5 = r5.__) if (r5.__c) {
      r5.__c.__$f |= 4;
      break;
    }
    var o5 = O(function() {
      var i6 = t4.value.value;
      return 0 === i6 ? 0 : true === i6 ? "" : i6 || "";
    }), e5 = O(function() {
      return !Array.isArray(o5.value) && !r(o5.value);
    }), u5 = x2(function() {
      this.N = M;
      if (e5.value) {
        var n4 = o5.value;
        if (i5.__v && i5.__v.__e && 3 === i5.__v.__e.nodeType) i5.__v.__e.data = n4;
      }
    }), c5 = n3.__$u.d;
    n3.__$u.d = function() {
      u5();
      c5.call(this);
    };
    return [e5, o5];
  }, []), u4 = e4[0], c4 = e4[1];
  return u4.value ? c4.peek() : c4.value;
}
w4.displayName = "ReactiveTextNode";
Object.defineProperties(l3.prototype, { constructor: { configurable: true, value: k($, null).constructor }, type: { configurable: true, value: w4 }, props: { configurable: true, get: function() {
  var i4 = this;
  return { data: { get value() {
    return i4.value;
  } } };
} }, __b: { configurable: true, value: 1 } });
b3("__b", function(i4, n3) {
  y4();
  d4 = void 0;
  if ("string" == typeof n3.type) {
    var r4, t4 = n3.props;
    for (var f5 in t4) if ("children" !== f5) {
      var o5 = t4[f5];
      if (o5 instanceof l3) {
        if (!r4) n3.__np = r4 = {};
        r4[f5] = o5;
        t4[f5] = o5.peek();
      }
    }
  }
  i4(n3);
});
b3("__r", function(i4, r4) {
  i4(r4);
  if (r4.type !== $) {
    y4();
    var t4, f5 = r4.__c;
    if (f5) {
      f5.__$f &= -2;
      if (void 0 === (t4 = f5.__$u)) f5.__$u = t4 = (function(i5, n3) {
        var r5;
        x2(function() {
          r5 = this;
        }, { name: n3 });
        r5.c = i5;
        return r5;
      })(/* @__PURE__ */ (function(i5) {
        return function() {
          var n3;
          if (m4) null == (n3 = this.y) || n3.call(this);
          i5.__$f |= 1;
          i5.setState({});
        };
      })(f5), "function" == typeof r4.type ? r4.type.displayName || r4.type.name : "");
    }
    d4 = f5;
    y4(t4);
  }
});
b3("__e", function(i4, n3, r4, t4) {
  y4();
  d4 = void 0;
  i4(n3, r4, t4);
});
b3("diffed", function(i4, n3) {
  y4();
  d4 = void 0;
  var r4;
  if ("string" == typeof n3.type && (r4 = n3.__e)) {
    var t4 = n3.__np, f5 = n3.props, o5 = r4.U;
    if (o5) for (var e4 in o5) {
      var u4 = o5[e4];
      if (!(void 0 === u4 || t4 && e4 in t4)) {
        u4.d();
        o5[e4] = void 0;
      }
    }
    if (t4) {
      if (!o5) {
        o5 = {};
        r4.U = o5;
      }
      for (var a5 in t4) {
        var c4 = o5[a5], v4 = t4[a5];
        if (void 0 === c4) {
          c4 = k3(r4, a5, v4, f5);
          o5[a5] = c4;
        } else c4.o(v4, f5);
      }
    }
  }
  i4(n3);
});
function k3(i4, n3, r4, t4) {
  var f5 = n3 in i4 && void 0 === i4.ownerSVGElement, o5 = y3(r4);
  return { o: function(i5, n4) {
    o5.value = i5;
    t4 = n4;
  }, d: x2(function() {
    this.N = M;
    var r5 = o5.value.value;
    if (t4[n3] !== r5) {
      t4[n3] = r5;
      if (f5) i4[n3] = r5;
      else if (null != r5 && (false !== r5 || "-" === n3[4])) i4.setAttribute(n3, r5);
      else i4.removeAttribute(n3);
    }
  }) };
}
b3("unmount", function(i4, n3) {
  if ("string" == typeof n3.type) {
    var r4 = n3.__e;
    if (r4) {
      var t4 = r4.U;
      if (t4) {
        r4.U = void 0;
        for (var f5 in t4) {
          var o5 = t4[f5];
          if (o5) o5.d();
        }
      }
    }
    var e4 = n3.__np;
    if (e4) {
      var u4 = n3.props;
      for (var a5 in e4) u4[a5] = e4[a5];
    }
    n3.__np = void 0;
  } else {
    var c4 = n3.__c;
    if (c4) {
      c4.__$f |= 8;
      var v4 = c4.__$u;
      if (v4) {
        c4.__$u = void 0;
        v4.d();
      }
    }
  }
  i4(n3);
});
b3("__h", function(i4, n3, r4, t4) {
  if (t4 < 3) n3.__$f |= 2;
  i4(n3, r4, t4);
});
x.prototype.shouldComponentUpdate = function(i4, n3) {
  if (this.__R) return true;
  var r4 = this.__$u, t4 = r4 && void 0 !== r4.s;
  for (var f5 in n3) return true;
  if (this.__f || "boolean" == typeof this.u && true === this.u) {
    var o5 = 2 & this.__$f;
    if (!(t4 || o5 || 4 & this.__$f)) return true;
    if (1 & this.__$f) return true;
  } else {
    if (!(t4 || 4 & this.__$f)) return true;
    if (3 & this.__$f) return true;
  }
  for (var e4 in i4) if ("__source" !== e4 && i4[e4] !== this.props[e4]) return true;
  for (var u4 in this.props) if (!(u4 in i4)) return true;
  return false;
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
    var i4;
    while (i4 = g4.shift()) h4.call(i4);
  });
}
function M() {
  if (1 === g4.push(this)) (n.requestAnimationFrame || A3)(F2);
}

// src/api.ts
var login = y3("unknown");
var session = y3(null);
var awaySince = y3(null);
var KEY = "kron.session";
var ASK_TIME = 3e4;
var ApiError = class extends Error {
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
  const token = localStorage.getItem(KEY);
  return token ? { Authorization: `Bearer ${token}`, ...more } : more;
}
async function problemOf(response) {
  try {
    const problem = await response.json();
    if (typeof problem.detail === "string") return new ApiError(response.status, problem);
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
  if (error.status === 401) loggedOut();
  if (error.isAway) awaySince.value ??= Date.now();
  return error;
}
async function open(path3, options = {}) {
  const sent = headers(options.headers ?? {});
  if (options.body !== void 0) sent["Content-Type"] = "application/json";
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
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw noteAway(lost("kron web does not answer: is it still running?"));
  }
  if (!response.ok) throw noteAway(await problemOf(response));
  return response;
}
async function get(path3, signal) {
  const late = AbortSignal.timeout(ASK_TIME);
  const response = await open(path3, { signal: signal ? AbortSignal.any([signal, late]) : late }).catch((error) => {
    if (late.aborted) throw noteAway(lost("krond takes too long to answer"));
    throw error;
  });
  const value = await response.json();
  awaySince.value = null;
  return value;
}
async function post(path3, body, more = {}) {
  const response = await open(path3, { method: "POST", headers: more, ...body === void 0 ? {} : { body } });
  const text = await response.text();
  return text === "" ? {} : JSON.parse(text);
}
async function postOnce(path3, body) {
  const key = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  for (let tries = 0; ; ++tries) {
    try {
      return await post(path3, body, { "Idempotency-Key": key });
    } catch (error) {
      if (!(error instanceof ApiError) || !error.isAway || tries === 5) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500 * (tries + 1)));
    }
  }
}
function loggedOut() {
  localStorage.removeItem(KEY);
  session.value = null;
  login.value = "out";
}
async function trade(code) {
  try {
    const answer = await post("session", { code });
    localStorage.setItem(KEY, answer.token);
    session.value = answer;
    login.value = "in";
    return true;
  } catch {
    return false;
  }
}
async function resume() {
  const found = /^#code=([0-9a-f]+)$/.exec(location.hash);
  if (found) {
    history.replaceState(null, "", location.pathname + "#/");
    dispatchEvent(new HashChangeEvent("hashchange"));
    if (await trade(found[1])) return;
  }
  if (!localStorage.getItem(KEY)) return loggedOut();
  try {
    session.value = await get("session");
    login.value = "in";
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) setTimeout(() => void resume(), 2e3);
  }
}
async function logOut() {
  await open("session", { method: "DELETE" }).catch(() => void 0);
  loggedOut();
}
addEventListener("storage", (event) => {
  if (event.key === KEY) void (event.newValue ? resume() : loggedOut());
});
var may = (role) => {
  const mine = session.value?.role ?? "read";
  return mine === "admin" || mine === role;
};

// src/time.ts
var kept = typeof localStorage === "undefined" ? null : localStorage.getItem("kron.zone");
var zone = y3(kept === "utc" ? "utc" : "local");
function chooseZone(next) {
  zone.value = next;
  localStorage.setItem("kron.zone", next);
}
function localName() {
  const name = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "local";
  return name.split("/").pop().replaceAll("_", " ");
}
var offset = 0;
function setNow(text) {
  const said = Date.parse(text);
  const mine = performance.timeOrigin + performance.now();
  const next = said - mine;
  if (offset === 0 || next > offset || offset - next > 1500) offset = next;
}
function now() {
  return performance.timeOrigin + performance.now() + offset;
}
var formats = /* @__PURE__ */ new Map();
function format(options, at) {
  const key = JSON.stringify(options) + at;
  let found = formats.get(key);
  if (!found) {
    found = new Intl.DateTimeFormat("en-GB", { hourCycle: "h23", ...options, ...at === "utc" ? { timeZone: "UTC" } : {} });
    formats.set(key, found);
  }
  return found;
}
var TWO = "2-digit";
var clock = (t4, at = zone.value) => format({ hour: TWO, minute: TWO }, at).format(t4);
var seconds = (t4, at = zone.value) => format({ hour: TWO, minute: TWO, second: TWO }, at).format(t4);
var day = (t4, at = zone.value) => format({ weekday: "short", day: "numeric", month: "short" }, at).format(t4).replace(",", "");
var dayKey = (t4, at) => format({ year: "numeric", month: TWO, day: TWO }, at).format(t4);
function moment(t4, at = zone.value) {
  return dayKey(t4, at) === dayKey(now(), at) ? seconds(t4, at) : `${day(t4, at)} ${seconds(t4, at)}`;
}
var isMidnight = (t4, at = zone.value) => clock(t4, at) === "00:00";
var utc = (t4) => new Date(t4).toISOString().replace(".000Z", "Z");
function duration(milliseconds) {
  const all = Math.max(0, Math.round(milliseconds / 1e3));
  if (milliseconds > 0 && milliseconds < 1e3) return `${Math.round(milliseconds)} ms`;
  const [d5, h5, m5, s4] = [Math.floor(all / 86400), Math.floor(all / 3600) % 24, Math.floor(all / 60) % 60, all % 60];
  if (d5 > 0) return h5 > 0 && d5 < 10 ? `${d5} d ${h5} h` : `${d5} d`;
  if (h5 > 0) return m5 > 0 ? `${h5} h ${m5} min` : `${h5} h`;
  if (m5 > 0) return s4 > 0 && m5 < 10 ? `${m5} min ${s4} s` : `${m5} min`;
  return `${s4} s`;
}
function relative(t4, from = now()) {
  const left = t4 - from;
  if (Math.abs(left) < 1e3) return "now";
  return left > 0 ? `in ${duration(left)}` : `${duration(-left)} ago`;
}
function counter(milliseconds) {
  const all = Math.max(0, Math.floor(milliseconds / 1e3));
  const two = (n3) => String(n3).padStart(2, "0");
  return `${Math.floor(all / 3600)}:${two(Math.floor(all / 60) % 60)}:${two(all % 60)}`;
}
function bytes(count) {
  if (count < 1e3) return `${count} B`;
  for (const [unit, size] of [["KB", 1e3], ["MB", 1e6], ["GB", 1e9]]) {
    if (count < size * 1e3) return `${(count / size).toFixed(count < size * 10 ? 1 : 0)} ${unit}`;
  }
  return `${Math.round(count / 1e12)} TB`;
}

// src/live.ts
var status = y3(null);
var epoch = y3(0);
var listeners = /* @__PURE__ */ new Set();
var STATUS_EVERY = 4e3;
var LOCK = "kron.events";
var channel = new BroadcastChannel("kron");
function onEvent(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
var AGAIN = /* @__PURE__ */ new Set(["gap", "jobs_loaded", "reloaded", "jobs_reloaded", "krond_started", "ready"]);
function take(told) {
  if (told.kind === "status") {
    const before = status.value;
    setNow(told.status.now);
    status.value = told.status;
    awaySince.value = null;
    if (before && before.pid !== told.status.pid) ++epoch.value;
  } else if (told.kind === "again" || AGAIN.has(told.event.event)) {
    ++epoch.value;
  } else {
    for (const listener of listeners) listener(told.event);
  }
}
function tell(told) {
  channel.postMessage(told);
  take(told);
}
channel.onmessage = (message) => take(message.data);
async function askStatus() {
  tell({ kind: "status", status: await get("status") });
}
async function read(body, onData) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (; ; ) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      let id = "";
      let data = "";
      for (const line of rest.slice(0, end).split("\n")) {
        if (line.startsWith("id:")) id = line.slice(3).trim();
        if (line.startsWith("data:")) data += line.slice(5).trim();
      }
      rest = rest.slice(end + 2);
      if (data !== "") onData(id, data);
    }
  }
}
var last = "";
async function follow(signal) {
  let wasAway = false;
  while (!signal.aborted) {
    try {
      const response = await open("events", { signal, headers: { Accept: "text/event-stream", ...last ? { "Last-Event-ID": last } : {} } });
      last ||= response.headers.get("Last-Event-ID") ?? "";
      if (wasAway) {
        await askStatus();
        tell({ kind: "again" });
      }
      wasAway = false;
      await read(response.body, (id, data) => {
        if (id) last = id;
        try {
          tell({ kind: "event", event: JSON.parse(data) });
        } catch {
        }
      });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status === 401) return;
      awaySince.value ??= Date.now();
    }
    wasAway = true;
    await new Promise((resolve) => setTimeout(resolve, 1e3));
  }
}
async function watch(signal) {
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, STATUS_EVERY));
    if (!signal.aborted) await askStatus().catch(() => void 0);
  }
}
var holding = null;
function update() {
  const wanted = login.value === "in" && document.visibilityState === "visible";
  if (wanted && !holding) {
    const mine = new AbortController();
    holding = mine;
    void askStatus().catch(() => void 0);
    void navigator.locks.request(LOCK, { signal: mine.signal }, () => Promise.all([follow(mine.signal), watch(mine.signal)])).catch(() => void 0);
  } else if (!wanted && holding) {
    holding.abort();
    holding = null;
  }
}
function startLive() {
  login.subscribe(update);
  document.addEventListener("visibilitychange", () => {
    const isBack = document.visibilityState === "visible" && !holding;
    update();
    if (isBack) ++epoch.value;
  });
}

// src/data.ts
var HOUR = 36e5;
var Asked = class {
  constructor(ask, pause2 = 1e3) {
    this.ask = ask;
    this.pause = pause2;
  }
  ask;
  pause;
  value = y3(null);
  error = y3(null);
  running = false;
  again = false;
  timer = 0;
  last = -Infinity;
  refresh() {
    if (this.running) {
      this.again = true;
      return;
    }
    if (this.timer) return;
    this.timer = window.setTimeout(() => void this.now(), Math.max(0, this.last + this.pause - performance.now()));
  }
  async now() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.running = true;
    try {
      this.value.value = await this.ask();
      this.error.value = null;
    } catch (error) {
      if (error instanceof ApiError) this.error.value = error;
    }
    this.running = false;
    this.last = performance.now();
    if (this.again) {
      this.again = false;
      this.refresh();
    }
  }
};
function markOf(run) {
  if (run.outcome === "skipped") return "skip";
  if (run.outcome === "missed") return "miss";
  if (run.outcome === "unschedulable") return "none";
  if (run.outcome === "passed over") return "over";
  if (run.state === "running") return "run";
  if (run.exitCode === null || run.exitCode === void 0) return "unknown";
  return run.exitCode === 0 ? "ok" : "fail";
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
};
var jobs = y3(/* @__PURE__ */ new Map());
var jobsComplete = y3(false);
var loading = null;
async function loadJobs() {
  loading?.abort();
  const mine = new AbortController();
  loading = mine;
  const found = /* @__PURE__ */ new Map();
  let after;
  try {
    do {
      const page = await get(`jobs?limit=1000${after ? `&after=${encodeURIComponent(after)}` : ""}`, mine.signal);
      for (const job of page.jobs) found.set(job.identity, job);
      after = page.next;
      if (!jobsComplete.value) jobs.value = new Map(found);
    } while (after);
    jobs.value = found;
    jobsComplete.value = true;
  } catch (error) {
    if (error instanceof ApiError && !error.isAway) throw error;
  }
}
var dirty = /* @__PURE__ */ new Set();
var patching = 0;
async function patchJobs() {
  patching = 0;
  const names = [...dirty];
  dirty.clear();
  if (names.length > 20) return loadJobs();
  const next = new Map(jobs.value);
  await Promise.all(
    names.map(async (name) => {
      try {
        next.set(name, await get(`jobs/${encodeURIComponent(name)}`));
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) next.delete(name);
      }
    })
  );
  jobs.value = next;
}
var isFailing = (job) => {
  const mark2 = job.last ? markOf(job.last) : "ok";
  return mark2 === "fail" || mark2 === "miss" || mark2 === "none" || mark2 === "unknown";
};
var attentionAsked = new Asked(async () => {
  try {
    return await get("attention");
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}, 1e3);
var MATTERS = { fail: "failing", miss: "missed", none: "may have no time", unknown: "failing" };
var attention = O(() => {
  const told = attentionAsked.value.value;
  if (told) return told.items.map((item) => ({ ...item, ...runOf(item) }));
  const items = [];
  const plainItem = { since: null, count: 1, cure: "" };
  for (const entry of status.value?.notScheduled ?? []) items.push({ ...plainItem, matter: "not scheduled", name: entry.identity, what: "never runs", reason: entry.reason });
  for (const job of jobs.value.values()) {
    const last2 = job.last;
    const matter = last2 && MATTERS[markOf(last2)];
    if (!last2 || !matter) continue;
    const since = last2.endedAt ?? last2.startedAt ?? last2.chosenTime ?? last2.periodId ?? null;
    items.push({ ...plainItem, matter, name: job.identity, what: "", reason: endOf(last2), since, ...last2.runId ? { runId: last2.runId } : {} });
  }
  return items;
});
function runOf(item) {
  const runId = item.matter === "failing" ? jobs.value.get(item.name)?.last?.runId : void 0;
  return runId ? { runId } : {};
}
var inNeed = O(() => attentionAsked.value.value?.jobsInNeed ?? new Set(attention.value.map((item) => item.name)).size);
function endOf(run) {
  switch (markOf(run)) {
    case "ok":
      return "exit 0";
    case "fail":
      return run.exitCode < 0 ? `ended by signal ${-run.exitCode}` : run.exitCode > 128 && run.exitCode < 160 ? `exit ${run.exitCode}, signal ${run.exitCode - 128}` : `exit ${run.exitCode}`;
    case "run":
      return "running";
    case "unknown":
      return "its end is not known";
    default: {
      const why = [run.reason, run.clause, run.detail].filter(Boolean).join(": ");
      const word2 = MARK_WORDS[markOf(run)];
      return why ? `${word2}: ${why}` : word2;
    }
  }
}
var range = y3({ hours: 24, back: 6 });
var shift = y3(0);
var knowsTimeline = true;
var order = y3("due");
var pictureAsked = new Asked(async () => {
  const { hours, back } = range.value;
  const step = Math.max(60, Math.round(hours * 3600 / 288 / 60) * 60);
  const from = Math.floor((now() + shift.value - back * HOUR) / (step * 1e3)) * step * 1e3;
  const until = from + hours * HOUR;
  const at = encodeURIComponent(new Date(from).toISOString().replace(".000Z", "Z"));
  if (knowsTimeline) {
    try {
      const answer = await get(`timeline?from=${at}&for=${hours}h&columns=${COLUMNS}&lanes=${mostLanes()}&order=${order.value}`);
      return { from: Date.parse(answer.from), until: Date.parse(answer.until), lanes: answer.lanes, more: answer.more, before: answer.before, after: answer.after, actual: answer.actual ?? [] };
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      knowsTimeline = false;
    }
  }
  const [load2, past] = await Promise.all([
    get(`load?from=${at}&for=${hours}h&step=${step}s`),
    get(`runs?limit=1000&from=${at}`),
    jobsComplete.value ? void 0 : loadJobs()
  ]);
  const side = (value) => value.starts ?? [];
  return { from, until, ...lanesOf(past.runs, from, until), before: side(load2.before), after: side(load2.after), actual: [] };
}, 3e3);
var COLUMNS = 288;
function mostLanes() {
  return Math.min(40, Math.max(12, Math.floor((innerHeight - 430) / 23)));
}
function lanesOf(past, from, until) {
  const at = (text) => text ? Math.round((Date.parse(text) - from) / 1e3) : null;
  const groups = /* @__PURE__ */ new Map();
  for (const job of jobs.value.values()) {
    const name = job.identity.replace(/\d+/g, "*");
    const group = groups.get(name);
    if (group) group.push(job);
    else groups.set(name, [job]);
  }
  const runsOf = /* @__PURE__ */ new Map();
  for (const run of past) {
    const found = runsOf.get(run.job);
    if (found) found.push(run);
    else runsOf.set(run.job, [run]);
  }
  const all = [];
  for (const [name, group] of groups) {
    const members = group.length >= 3 ? [group] : group.map((job) => [job]);
    for (const part of members) {
      const lane = { name: part.length > 1 ? name : part[0].identity, jobs: part.length, periods: [], runs: [] };
      let due = Infinity;
      for (const job of part) {
        if (job.next) {
          const starts = Date.parse(job.next.startsAt);
          due = Math.min(due, starts);
          if (starts < until) lane.periods.push([at(job.next.periodId), at(job.next.periodId), at(job.next.startsAt), at(job.next.startsAt)]);
        }
        for (const run of runsOf.get(job.identity) ?? []) {
          const start = at(run.startedAt) ?? at(run.chosenTime) ?? at(run.periodId);
          if (start !== null) lane.runs.push([at(run.chosenTime), start, at(run.endedAt), markOf(run), run.runId ?? ""]);
        }
        if (job.last && isFailing(job)) lane.mark = markOf(job.last);
      }
      if (lane.periods.length + lane.runs.length === 0) continue;
      all.push({ lane: part.length > 1 ? dense(lane, from, until) : lane, due });
    }
  }
  all.sort((a5, b4) => (order.value === "name" ? 0 : a5.due - b4.due) || a5.lane.name.localeCompare(b4.lane.name));
  const most = mostLanes();
  return { lanes: all.slice(0, most).map((entry) => entry.lane), more: all.slice(most).reduce((sum, entry) => sum + entry.lane.jobs, 0) };
}
function dense(lane, from, until) {
  const counts = /* @__PURE__ */ new Map();
  const wide = (until - from) / 1e3 / COLUMNS;
  for (const t4 of [...lane.runs.map((run) => run[1]), ...lane.periods.map((period) => period[3])]) {
    const column = Math.floor(t4 / wide);
    if (column >= 0 && column < COLUMNS) counts.set(column, (counts.get(column) ?? 0) + 1);
  }
  return { name: lane.name, jobs: lane.jobs, ...lane.mark ? { mark: lane.mark } : {}, density: [...counts] };
}
var runningAsked = new Asked(async () => (await get("runs?result=running&limit=100")).runs, 500);
var recentAsked = new Asked(async () => {
  const from = encodeURIComponent(new Date(now() - 24 * HOUR).toISOString().replace(/\.\d+Z/, "Z"));
  return (await get(`runs?limit=1000&from=${from}`)).runs;
}, 5e3);
var HAPPENED = /* @__PURE__ */ new Set(["run_started", "run_ended", "period_ended", "passed_over", "run_adopted", "job_paused", "job_resumed", "run_requested", "run_signalled"]);
var watched = /* @__PURE__ */ new Set();
function watch2(asked3) {
  watched.add(asked3);
  asked3.refresh();
  return () => watched.delete(asked3);
}
var watchesJobs = y3(0);
function startData() {
  onEvent((event) => {
    if (!HAPPENED.has(event.event)) return;
    for (const asked3 of watched) asked3.refresh();
    if (event.identity && watchesJobs.value > 0) {
      dirty.add(event.identity);
      patching ||= window.setTimeout(() => void patchJobs(), 700);
    }
  });
  const again = () => {
    for (const asked3 of watched) asked3.refresh();
    if (watchesJobs.value > 0) void loadJobs();
  };
  addEventListener("kron-changed", again);
  let first = true;
  epoch.subscribe(() => {
    if (first) {
      first = false;
      return;
    }
    knowsTimeline = true;
    again();
  });
}

// src/draw/paint.ts
var cache = /* @__PURE__ */ new Map();
addEventListener("kron-theme", () => cache.clear());
function colour(name) {
  let found = cache.get(name);
  if (found === void 0) {
    found = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || name;
    cache.set(name, found);
  }
  return found;
}
function paint(canvas, width, height, shapes) {
  const ratio = window.devicePixelRatio || 1;
  const [w5, h5] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w5) canvas.width = w5;
  if (canvas.height !== h5) canvas.height = h5;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const font = getComputedStyle(document.body).fontFamily;
  for (const shape of shapes) draw(context, shape, font);
}
function draw(context, shape, font) {
  context.globalAlpha = "opacity" in shape && shape.opacity !== void 0 ? shape.opacity : 1;
  switch (shape.kind) {
    case "rect":
      context.beginPath();
      if (shape.r) context.roundRect(shape.x, shape.y, shape.w, shape.h, Math.min(shape.r, shape.w / 2, shape.h / 2));
      else context.rect(shape.x, shape.y, shape.w, shape.h);
      finish(context, shape.fill, shape.stroke, 1, shape.dash);
      break;
    case "line":
      context.beginPath();
      context.moveTo(shape.x1, shape.y1);
      context.lineTo(shape.x2, shape.y2);
      finish(context, void 0, shape.stroke, shape.width ?? 1, shape.dash);
      break;
    case "text":
      context.font = `${shape.weight ?? 400} ${shape.size ?? 11}px ${font}`;
      context.textAlign = shape.align ?? "left";
      context.fillStyle = colour(shape.fill);
      context.fillText(cut(context, shape.text, shape.most), shape.x, shape.y);
      break;
    case "circle":
      context.beginPath();
      context.arc(shape.x, shape.y, shape.r, 0, 2 * Math.PI);
      finish(context, shape.fill, shape.stroke, shape.width ?? 1);
      break;
    case "path":
      context.beginPath();
      shape.points.forEach(([x3, y5], i4) => i4 === 0 ? context.moveTo(x3, y5) : context.lineTo(x3, y5));
      finish(context, shape.fill, shape.stroke, shape.width ?? 1);
      break;
    case "glyph":
      glyph(context, shape.x, shape.y, shape.mark);
      break;
    case "hatch":
      context.save();
      context.beginPath();
      context.rect(shape.x, shape.y, shape.w, shape.h);
      context.clip();
      context.beginPath();
      for (let x3 = shape.x - shape.h; x3 < shape.x + shape.w; x3 += 7) {
        context.moveTo(x3, shape.y + shape.h);
        context.lineTo(x3 + shape.h, shape.y);
      }
      context.globalAlpha = 0.4;
      finish(context, void 0, shape.stroke, 1.2);
      context.restore();
      break;
  }
  context.globalAlpha = 1;
}
function finish(context, fill, stroke, width, dash) {
  if (fill) {
    context.fillStyle = colour(fill);
    context.fill();
  }
  if (stroke) {
    context.strokeStyle = colour(stroke);
    context.lineWidth = width;
    context.setLineDash(dash ? [3, 2] : []);
    context.stroke();
    context.setLineDash([]);
  }
}
function cut(context, text, most) {
  if (most === void 0 || context.measureText(text).width <= most) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = low + high + 1 >> 1;
    if (context.measureText(`${text.slice(0, middle)}…`).width <= most) low = middle;
    else high = middle - 1;
  }
  return `${text.slice(0, low)}…`;
}
function glyph(context, x3, y5, mark2) {
  context.beginPath();
  const ink = (name, width = 1.8) => {
    context.strokeStyle = colour(name);
    context.lineWidth = width;
    context.stroke();
  };
  switch (mark2) {
    case "fail":
    case "failed":
      context.moveTo(x3 - 3.5, y5 - 3.5);
      context.lineTo(x3 + 3.5, y5 + 3.5);
      context.moveTo(x3 + 3.5, y5 - 3.5);
      context.lineTo(x3 - 3.5, y5 + 3.5);
      return ink("fail", 2);
    case "skip":
      context.moveTo(x3 - 4.5, y5);
      context.lineTo(x3 + 4.5, y5);
      return ink("skip", 2.4);
    case "miss":
      context.moveTo(x3, y5 - 4.5);
      context.lineTo(x3 + 4.5, y5);
      context.lineTo(x3, y5 + 4.5);
      context.lineTo(x3 - 4.5, y5);
      context.closePath();
      return ink("miss", 1.6);
    case "none":
      context.arc(x3, y5, 4, 0, 2 * Math.PI);
      context.moveTo(x3 - 2.8, y5 + 2.8);
      context.lineTo(x3 + 2.8, y5 - 2.8);
      return ink("none", 1.6);
    case "over":
      for (const step of [-3.5, 0, 3.5]) {
        context.moveTo(x3 + step + 1, y5);
        context.arc(x3 + step, y5, 1, 0, 2 * Math.PI);
      }
      context.fillStyle = colour("over");
      return context.fill();
    case "unknown":
      context.arc(x3, y5, 3.6, 0, 2 * Math.PI);
      return ink("fail", 1.4);
    default:
      return void 0;
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

// node_modules/preact/jsx-runtime/dist/jsxRuntime.mjs
var f4 = /* @__PURE__ */ Symbol.for("pv");
var o4 = 0;
function a4(t4, e4, n3, u4, a5, i4) {
  e4 || (e4 = {});
  var c4, l4, p5 = e4;
  if ("ref" in p5 && "function" != typeof t4) for (l4 in p5 = {}, e4) "ref" == l4 ? c4 = e4[l4] : p5[l4] = e4[l4];
  var s4 = { type: t4, props: p5, key: n3, ref: c4, __k: null, __: null, __b: 0, __e: null, __c: null, constructor: f4, __v: --o4, __i: -1, __u: 0 };
  return (a5 || i4) && (s4.__source = a5, s4.__self = i4), n.vnode && n.vnode(s4), s4;
}

// src/parts.tsx
var SHAPES = {
  ok: /* @__PURE__ */ a4("rect", { x: "4", y: "4", width: "6", height: "6", rx: "1", fill: "var(--ok)" }),
  fail: /* @__PURE__ */ a4("path", { d: "M3.5 3.5l7 7m0-7l-7 7", stroke: "var(--fail)", "stroke-width": "2", "stroke-linecap": "round" }),
  skip: /* @__PURE__ */ a4("path", { d: "M2.5 7h9", stroke: "var(--skip)", "stroke-width": "2.4", "stroke-linecap": "round" }),
  miss: /* @__PURE__ */ a4("path", { d: "M7 2.5L11.5 7 7 11.5 2.5 7z", fill: "none", stroke: "var(--miss)", "stroke-width": "1.6" }),
  none: /* @__PURE__ */ a4("path", { d: "M4 10l6-6M7 2.6a4.4 4.4 0 100 8.8 4.4 4.4 0 000-8.8", fill: "none", stroke: "var(--none)", "stroke-width": "1.6" }),
  over: /* @__PURE__ */ a4("path", { d: "M3 7h.01M7 7h.01M11 7h.01", stroke: "var(--over)", "stroke-width": "2", "stroke-linecap": "round" }),
  run: /* @__PURE__ */ a4("path", { d: "M4 3l7 4-7 4z", fill: "var(--run)" }),
  unknown: /* @__PURE__ */ a4("circle", { cx: "7", cy: "7", r: "3.8", fill: "none", stroke: "var(--fail)", "stroke-width": "1.5" }),
  next: /* @__PURE__ */ a4("circle", { cx: "7", cy: "7", r: "3.2", fill: "none", stroke: "var(--after)", "stroke-width": "1.8" }),
  pause: /* @__PURE__ */ a4("path", { d: "M5 3.5v7M9 3.5v7", stroke: "var(--over)", "stroke-width": "2", "stroke-linecap": "round" })
};
function Glyph({ mark: mark2, label }) {
  const words = label ?? (mark2 in MARK_WORDS ? MARK_WORDS[mark2] : void 0);
  return /* @__PURE__ */ a4("svg", { class: "glyph", viewBox: "0 0 14 14", ...words ? { role: "img", "aria-label": words } : { "aria-hidden": "true" }, children: SHAPES[mark2] });
}
function Time({ at, ago }) {
  if (at === null || at === void 0) return null;
  const t4 = typeof at === "number" ? at : Date.parse(at);
  if (zone.value === "utc" || ago) void tickSecond.value;
  return /* @__PURE__ */ a4("time", { dateTime: utc(t4), title: utc(t4), children: ago ? relative(t4) : moment(t4) });
}
var tickSecond = y3(0);
setInterval(() => {
  if (document.visibilityState === "visible") ++tickSecond.value;
}, 1e3);
function Name({ of }) {
  return /* @__PURE__ */ a4("a", { class: "name", href: `#/jobs/${encodeURIComponent(of)}`, children: /* @__PURE__ */ a4("bdi", { children: plain(of) }) });
}
function Panel({ title, more, children, label, class: extra }) {
  return /* @__PURE__ */ a4("section", { class: `panel ${extra ?? ""}`, "aria-label": label ?? (typeof title === "string" ? title : void 0), children: [
    (title || more) && /* @__PURE__ */ a4("div", { class: "head", children: [
      typeof title === "string" ? /* @__PURE__ */ a4("h2", { children: title }) : title,
      /* @__PURE__ */ a4("span", { class: "grow" }),
      more
    ] }),
    children
  ] });
}
function Segments({ label, value, options, onChange }) {
  return /* @__PURE__ */ a4("span", { class: "seg", role: "group", "aria-label": label, children: options.map(([key, text]) => /* @__PURE__ */ a4("button", { type: "button", "aria-pressed": key === value, onClick: () => onChange(key), children: text }, key)) });
}
function Canvas({ draw: draw2, label, onKey }) {
  const canvas = T2(null);
  const box = T2(null);
  const [width, setWidth] = d2(0);
  const [spot, setSpot] = d2(null);
  const spots = T2([]);
  const [height, setHeight] = d2(60);
  A2(() => {
    const look = () => setWidth(box.current?.clientWidth ?? 0);
    const observer = new ResizeObserver(look);
    observer.observe(box.current);
    look();
    return () => observer.disconnect();
  }, []);
  const [theme2, setTheme] = d2(0);
  A2(() => {
    const changed2 = () => setTheme((n3) => n3 + 1);
    addEventListener("kron-theme", changed2);
    return () => removeEventListener("kron-theme", changed2);
  }, []);
  A2(() => {
    if (width === 0) return;
    const drawn = draw2(width);
    spots.current = drawn.spots ?? [];
    setHeight(drawn.height);
    paint(canvas.current, width, drawn.height, drawn.shapes);
  }, [draw2, width, height, theme2]);
  const find = (x3, y5) => spots.current.findLast((s4) => x3 >= s4.x && x3 <= s4.x + s4.w && y5 >= s4.y && y5 <= s4.y + s4.h) ?? null;
  const keyed = (event) => {
    if (onKey?.(event.key)) return event.preventDefault();
    const all = spots.current;
    if (event.key === "Enter" && spot?.href) location.hash = spot.href.slice(1);
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0 || all.length === 0) return;
    event.preventDefault();
    const at = spot ? all.indexOf(spot) : -1;
    setSpot(all[(at + step + all.length) % all.length] ?? null);
  };
  const left = spot ? Math.min(Math.max(8, spot.x + Math.min(spot.w, 40) / 2), Math.max(8, width - 270)) : 0;
  return /* @__PURE__ */ a4("div", { class: "drawing", ref: box, children: [
    /* @__PURE__ */ a4(
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
    ),
    /* @__PURE__ */ a4("div", { class: "sr", "aria-live": "polite", children: spot?.lines.join(", ") }),
    spot && spot.lines.length > 1 && /* @__PURE__ */ a4("div", { class: "tip", style: { left: `${left}px`, top: `${spot.y + spot.h + 6}px` }, children: [
      /* @__PURE__ */ a4("b", { children: spot.lines[0] }),
      spot.lines.slice(1).map((line) => /* @__PURE__ */ a4("div", { children: line }))
    ] })
  ] });
}
var toasts = y3([]);
var toastId = 0;
function say(text, bad = false) {
  const id = ++toastId;
  toasts.value = [...toasts.value.slice(-3), { id, text, bad }];
  setTimeout(() => toasts.value = toasts.value.filter((toast) => toast.id !== id), bad ? 12e3 : 5e3);
}
async function attempt(what) {
  try {
    say(await what());
    dispatchEvent(new Event("kron-changed"));
  } catch (error) {
    say(error instanceof ApiError ? error.problem.detail : String(error), true);
  }
}
function Toasts() {
  return /* @__PURE__ */ a4("div", { class: "toasts", role: "status", "aria-live": "polite", children: toasts.value.map((toast) => /* @__PURE__ */ a4("div", { class: toast.bad ? "bad" : "", children: plain(toast.text) }, toast.id)) });
}
var question = y3(null);
function Ask() {
  const asked3 = question.value;
  const dialog = T2(null);
  const [typed, setTyped] = d2("");
  A2(() => {
    setTyped("");
    if (asked3) dialog.current?.showModal();
  }, [asked3]);
  if (!asked3) return null;
  const close = () => {
    question.value = null;
  };
  return /* @__PURE__ */ a4("dialog", { ref: dialog, onClose: close, "aria-labelledby": "ask-title", children: [
    /* @__PURE__ */ a4("h2", { id: "ask-title", children: asked3.title }),
    /* @__PURE__ */ a4("div", { class: "body", children: asked3.text }),
    asked3.extra,
    asked3.typed !== void 0 && /* @__PURE__ */ a4("label", { class: "field", children: [
      "Type ",
      /* @__PURE__ */ a4("b", { children: plain(asked3.typed) }),
      " to go on",
      /* @__PURE__ */ a4("input", { value: typed, onInput: (event) => setTyped(event.currentTarget.value) })
    ] }),
    /* @__PURE__ */ a4("div", { class: "buttons", children: [
      /* @__PURE__ */ a4("button", { type: "button", autofocus: true, onClick: close, children: "Cancel" }),
      /* @__PURE__ */ a4(
        "button",
        {
          type: "button",
          class: asked3.danger ? "danger" : "main",
          disabled: asked3.typed !== void 0 && typed !== asked3.typed,
          onClick: () => {
            close();
            void attempt(asked3.act);
          },
          children: asked3.yes
        }
      )
    ] })
  ] });
}

// src/actions.tsx
function allowed() {
  if (!may("operate")) say("This session may only look.", true);
  return may("operate");
}
function runNow(name) {
  if (!allowed()) return;
  question.value = {
    title: `Run ${plain(name)} now?`,
    text: "It is started once, beside its schedule. Its next period stays where it is.",
    yes: "Run now",
    act: async () => {
      const done = await postOnce(`jobs/${encodeURIComponent(name)}/trigger`);
      location.hash = `/runs/${done.runId}`;
      return done.outcome === "waiting" ? `${name} waits for the run that it replaces.` : `${name} was started.`;
    }
  };
}
function pause(names) {
  if (!allowed() || names.length === 0) return;
  let length = "";
  const until = () => {
    const hours = Number(length);
    return hours > 0 ? { until: new Date(Date.now() + hours * 36e5).toISOString().replace(/\.\d+Z/, "Z") } : {};
  };
  question.value = {
    title: names.length === 1 ? `Pause ${plain(names[0])}?` : `Pause ${names.length} jobs?`,
    text: /* @__PURE__ */ a4($, { children: [
      "No period starts until it is resumed. What becomes due meanwhile waits: on resume only the latest is judged, within its deadline. Runs that are going stay.",
      /* @__PURE__ */ a4(Names, { names })
    ] }),
    extra: /* @__PURE__ */ a4("label", { class: "field", children: [
      "For",
      /* @__PURE__ */ a4("select", { onChange: (event) => length = event.currentTarget.value, children: [
        /* @__PURE__ */ a4("option", { value: "", children: "as long as nobody resumes it" }),
        /* @__PURE__ */ a4("option", { value: "1", children: "1 hour" }),
        /* @__PURE__ */ a4("option", { value: "4", children: "4 hours" }),
        /* @__PURE__ */ a4("option", { value: "24", children: "1 day" }),
        /* @__PURE__ */ a4("option", { value: "168", children: "1 week" })
      ] })
    ] }),
    yes: "Pause",
    ...names.length > 20 ? { typed: String(names.length) } : {},
    act: () => each(names, "paused", (name) => post(`jobs/${encodeURIComponent(name)}/pause`, until()))
  };
}
function resumeJobs(names) {
  if (!allowed() || names.length === 0) return;
  question.value = {
    title: names.length === 1 ? `Resume ${plain(names[0])}?` : `Resume ${names.length} jobs?`,
    text: /* @__PURE__ */ a4($, { children: [
      "If a period became due during the pause, the latest of them starts at once, if its deadline allows that.",
      /* @__PURE__ */ a4(Names, { names })
    ] }),
    yes: "Resume",
    ...names.length > 20 ? { typed: String(names.length) } : {},
    act: () => each(names, "resumed", (name) => post(`jobs/${encodeURIComponent(name)}/resume`, {}))
  };
}
function Names({ names }) {
  if (names.length < 2) return null;
  return /* @__PURE__ */ a4("ul", { class: "names", children: [
    names.slice(0, 12).map((name) => /* @__PURE__ */ a4("li", { children: plain(name) })),
    names.length > 12 && /* @__PURE__ */ a4("li", { class: "faint", children: [
      "and ",
      names.length - 12,
      " more"
    ] })
  ] });
}
async function each(names, done, act) {
  let failed = 0;
  let first;
  for (const name of names) {
    await act(name).catch((error) => {
      ++failed;
      first ??= error;
    });
  }
  if (failed > 0 && names.length === 1) throw first;
  if (failed > 0) throw new Error(`${names.length - failed} of ${names.length} jobs were ${done}; ${String(first.message)}`);
  return names.length === 1 ? `${names[0]} is ${done}.` : `${names.length} jobs are ${done}.`;
}
function terminate(run) {
  if (!allowed()) return;
  question.value = {
    title: `End this run of ${plain(run.job)}?`,
    text: "It gets SIGTERM, and SIGKILL when its grace period is over.",
    yes: "Send SIGTERM",
    danger: true,
    act: async () => {
      await post(`runs/${run.runId}/terminate`);
      return "SIGTERM was sent.";
    }
  };
}
function kill(run) {
  if (!allowed()) return;
  question.value = {
    title: `Kill this run of ${plain(run.job)}?`,
    text: "It gets SIGKILL: it cannot put anything in order.",
    yes: "Kill",
    danger: true,
    typed: run.job,
    act: async () => {
      await post(`runs/${run.runId}/kill`);
      return "SIGKILL was sent.";
    }
  };
}
function toggle(job) {
  if (job.paused) resumeJobs([job.identity]);
  else pause([job.identity]);
}
function reload() {
  if (!allowed()) return;
  question.value = {
    title: "Read the job files again?",
    text: "krond reads them all; what changed is in force at once, what is wrong stays as it was and is said here.",
    yes: "Reload",
    act: async () => {
      const done = await post("reload");
      return done.jobs === void 0 ? "The job files were read." : `The job files were read: ${done.jobs} jobs.`;
    }
  };
}

// src/route.ts
function parse() {
  const [path3 = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [view = "", ...rest] = path3.split("/");
  let id = "";
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
  const { view, id, query } = current.value;
  const next = new URLSearchParams(query);
  if (value) next.set(name, value);
  else next.delete(name);
  const text = next.toString();
  history.replaceState(null, "", `#/${view}${id ? `/${encodeURIComponent(id)}` : ""}${text ? `?${text}` : ""}`);
  current.value = parse();
}

// src/theme.ts
var kept2 = localStorage.getItem("kron.theme");
var theme = y3(kept2 === "light" || kept2 === "dark" ? kept2 : "auto");
var dark = matchMedia("(prefers-color-scheme: dark)");
function apply() {
  const isDark = theme.value === "dark" || theme.value === "auto" && dark.matches;
  document.documentElement.dataset["theme"] = isDark ? "dark" : "light";
  dispatchEvent(new Event("kron-theme"));
}
function nextTheme() {
  theme.value = theme.value === "auto" ? "light" : theme.value === "light" ? "dark" : "auto";
  localStorage.setItem("kron.theme", theme.value);
  apply();
}
dark.addEventListener("change", apply);
apply();

// src/palette.tsx
var palette = y3(false);
var help = y3(false);
function entries(query) {
  const text = query.trim().toLowerCase();
  const found = [];
  if (/^[0-9a-f]{6,64}$/.test(text)) found.push({ text: `Run ${text}`, hint: "by its id", act: () => go(`/runs/${text}`) });
  const verbs = [["run ", runNow], ["pause ", (name) => pause([name])], ["resume ", (name) => resumeJobs([name])]];
  const verb = verbs.find(([word2]) => text.startsWith(word2));
  const wanted = verb ? text.slice(verb[0].length) : text;
  for (const name of jobs.value.keys()) {
    if (!name.toLowerCase().includes(wanted)) continue;
    found.push(verb ? { text: plain(name), hint: `${verb[0].trim()}…`, act: () => verb[1](name) } : { text: plain(name), hint: "job", act: () => go(`/jobs/${encodeURIComponent(name)}`) });
    if (found.length > 40) break;
  }
  const fixed = [
    { text: "Overview", hint: "g o", act: () => go("/") },
    { text: "Jobs", hint: "g j", act: () => go("/jobs") },
    { text: "Jobs that failed", hint: "is:failing", act: () => go("/jobs?q=is%3Afailing") },
    { text: "Runs", hint: "g r", act: () => go("/runs") },
    { text: "Tasks", hint: "g t", act: () => go("/tasks") },
    { text: "Try lines", hint: "", act: () => go("/try") },
    { text: "Reload the job files…", hint: "", act: reload },
    { text: "Other colours", hint: "", act: nextTheme },
    { text: "Keys", hint: "?", act: () => help.value = true },
    { text: "Log out", hint: "", act: () => void logOut() }
  ];
  return [...fixed.filter((entry) => text !== "" && entry.text.toLowerCase().includes(text)), ...found, ...text === "" ? fixed : []].slice(0, 40);
}
function Palette() {
  const dialog = T2(null);
  const [query, setQuery2] = d2("");
  const [at, setAt] = d2(0);
  A2(() => {
    if (!palette.value) return;
    setQuery2("");
    setAt(0);
    dialog.current?.showModal();
    if (!jobsComplete.value) void loadJobs();
  }, [palette.value]);
  if (!palette.value) return null;
  const found = entries(query);
  const choose = (entry) => {
    dialog.current?.close();
    entry?.act();
  };
  return /* @__PURE__ */ a4("dialog", { ref: dialog, class: "palette", "aria-label": "Find a job, run or action", onClose: () => palette.value = false, onClick: (event) => event.target === dialog.current && dialog.current?.close(), children: [
    /* @__PURE__ */ a4(
      "input",
      {
        autofocus: true,
        role: "combobox",
        "aria-expanded": "true",
        "aria-controls": "palette-list",
        "aria-activedescendant": `entry-${at}`,
        "aria-label": "Find a job, run or action",
        placeholder: "A job, the id of a run, or: run, pause, resume …",
        value: query,
        onInput: (event) => {
          setQuery2(event.currentTarget.value);
          setAt(0);
        },
        onKeyDown: (event) => {
          if (event.key === "ArrowDown") setAt(Math.min(found.length - 1, at + 1));
          else if (event.key === "ArrowUp") setAt(Math.max(0, at - 1));
          else if (event.key === "Enter") choose(found[at]);
          else return;
          event.preventDefault();
        }
      }
    ),
    /* @__PURE__ */ a4("ul", { id: "palette-list", role: "listbox", "aria-label": "Found", children: found.map((entry, i4) => /* @__PURE__ */ a4("li", { id: `entry-${i4}`, role: "option", "aria-selected": i4 === at, onClick: () => choose(entry), onMouseEnter: () => setAt(i4), children: [
      /* @__PURE__ */ a4("span", { class: "cut", children: entry.text }),
      /* @__PURE__ */ a4("span", { class: "faint", children: entry.hint })
    ] })) })
  ] });
}
var KEYS = [
  ["/", "filter"],
  ["Ctrl-K", "find anything, do anything"],
  ["g o · g j · g r · g t", "Overview, Jobs, Runs, Tasks"],
  ["j k ↵", "down, up, open"],
  ["x", "select a job"],
  ["r", "run the job now…"],
  ["p", "pause or resume…"],
  ["w", "why not?"],
  ["l", "output of the last run"],
  ["b", "as written or as spread"],
  ["+ − ← → 0", "the time axis, with the picture in focus"],
  ["z", "your time or UTC"],
  ["Esc", "back out"]
];
function Help() {
  const dialog = T2(null);
  A2(() => {
    if (help.value) dialog.current?.showModal();
  }, [help.value]);
  if (!help.value) return null;
  return /* @__PURE__ */ a4("dialog", { ref: dialog, "aria-labelledby": "help-title", onClose: () => help.value = false, children: [
    /* @__PURE__ */ a4("h2", { id: "help-title", children: "Keys" }),
    /* @__PURE__ */ a4("dl", { class: "kv keys", children: KEYS.map(([key, what]) => /* @__PURE__ */ a4($, { children: [
      /* @__PURE__ */ a4("dt", { children: /* @__PURE__ */ a4("kbd", { children: key }) }),
      /* @__PURE__ */ a4("dd", { children: what })
    ] })) }),
    /* @__PURE__ */ a4("p", { class: "soft", children: [
      "Whatever changes something asks first. Everything here is also on the command line: ",
      /* @__PURE__ */ a4("code", { children: "kron --help" }),
      "."
    ] }),
    /* @__PURE__ */ a4("div", { class: "buttons", children: /* @__PURE__ */ a4("button", { type: "button", autofocus: true, onClick: () => dialog.current?.close(), children: "Close" }) })
  ] });
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
};
var MINUTE = 6e4;
var STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080].map((minutes) => minutes * MINUTE);
function ticks(scale, apart = 68) {
  const wanted = (scale.until - scale.from) / (scale.right - scale.left) * apart;
  const step = STEPS.find((candidate) => candidate >= wanted) ?? STEPS[STEPS.length - 1];
  const found = [];
  const stride = Math.min(step, 15 * MINUTE);
  for (let t4 = Math.ceil(scale.from / stride) * stride; t4 <= scale.until; t4 += stride) {
    const label = clock(t4);
    const minutes = Number(label.slice(0, 2)) * 60 + Number(label.slice(3));
    if (minutes % Math.min(step / MINUTE, 1440) !== 0) continue;
    const isDay = isMidnight(t4);
    if (step >= 1440 * MINUTE && !isDay) continue;
    found.push({ t: t4, label: isDay ? day(t4) : label, isDay });
  }
  return found;
}
function roundUp(value) {
  if (value <= 1) return 1;
  const ten = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * ten).find((candidate) => candidate >= value);
}

// src/ansi.ts
var LONGEST_LINE = 16 * 1024;
var SEQUENCE = /\u001b(?:\[([0-9;:]*)[ -/]*([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~])?/g;
var COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
var PLAIN = { bold: false, dim: false, italic: false, underline: false, colour: "" };
function changed(style, parameters) {
  let next = { ...style };
  const codes = parameters === "" ? [0] : parameters.split(/[;:]/).map((part) => Number(part) || 0);
  for (let i4 = 0; i4 < codes.length; ++i4) {
    const code = codes[i4];
    if (code === 0) next = { ...PLAIN };
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 3) next.italic = true;
    else if (code === 4) next.underline = true;
    else if (code === 22) next.bold = next.dim = false;
    else if (code === 23) next.italic = false;
    else if (code === 24) next.underline = false;
    else if (code === 39) next.colour = "";
    else if (code >= 30 && code <= 37) next.colour = COLOURS[code - 30];
    else if (code >= 90 && code <= 97) next.colour = COLOURS[code - 90];
    else if (code === 38 || code === 48) {
      const palette2 = codes[i4 + 1] === 5;
      const number = codes[i4 + 2] ?? 0;
      if (code === 38 && palette2 && number < 16) next.colour = COLOURS[number % 8];
      i4 += palette2 ? 2 : codes[i4 + 1] === 2 ? 4 : 0;
    }
  }
  return next;
}
function classes(style) {
  const names = [];
  for (const name of ["bold", "dim", "italic", "underline"]) if (style[name]) names.push(`t-${name}`);
  if (style.colour) names.push(`t-${style.colour}`);
  return names.join(" ");
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
    for (let end = all.indexOf("\n"); end >= 0; end = all.indexOf("\n")) {
      this.finish(all.slice(0, end));
      all = all.slice(end + 1);
    }
    this.rest = all.length > 2 * LONGEST_LINE ? all.slice(0, LONGEST_LINE) + all.slice(-16) : all;
    this.dropped += all.length - this.rest.length;
  }
  // What has no end yet.
  get open() {
    return this.read(this.rest.slice(0, LONGEST_LINE), { ...this.style }).line;
  }
  end() {
    if (this.rest !== "") this.finish(this.rest);
    this.rest = "";
  }
  dropped = 0;
  finish(text) {
    const cut2 = this.dropped + Math.max(0, text.length - LONGEST_LINE);
    this.dropped = 0;
    const { line, style } = this.read(text.slice(0, LONGEST_LINE), this.style);
    this.style = style;
    this.take(line, cut2);
  }
  read(text, from) {
    let style = from;
    let line = [];
    const add = (part) => {
      const trimmed = part.replace(/\r+$/, "");
      const back = trimmed.lastIndexOf("\r");
      if (back >= 0) line = [];
      const shown = clean(back >= 0 ? trimmed.slice(back + 1) : trimmed);
      if (shown !== "") line.push({ text: shown, style: classes(style) });
    };
    let at = 0;
    for (const found of text.matchAll(SEQUENCE)) {
      add(text.slice(at, found.index));
      at = found.index + found[0].length;
      if (found[2] === "m") style = changed(style, found[1] ?? "");
    }
    add(text.slice(at));
    return { line, style };
  }
};
var CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
function clean(text) {
  return text.replace(CONTROL, (c4) => c4 === "\b" ? "" : `⟨U+${c4.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`);
}

// src/output.ts
var MOST_BYTES = 2 << 20;
var Output = class {
  constructor(runId) {
    this.runId = runId;
    void this.follow();
  }
  runId;
  lines = y3([]);
  open = y3([]);
  state = y3("asking");
  skipped = y3(0);
  // bytes before the first line that is kept
  problem = y3("");
  kept = [];
  sizes = [];
  size = 0;
  count = 0;
  dirty = 0;
  stop = new AbortController();
  terminal = new Terminal((pieces, cut2) => this.add(pieces, cut2));
  close() {
    this.stop.abort();
    cancelAnimationFrame(this.dirty);
  }
  add(pieces, cut2) {
    const size = pieces.reduce((sum, piece) => sum + piece.text.length, 0) + 24;
    this.kept.push({ number: ++this.count, pieces, cut: cut2 });
    this.sizes.push(size);
    this.size += size;
    let drop = 0;
    while (this.size > MOST_BYTES && drop < this.kept.length - 1) this.size -= this.sizes[drop++];
    if (drop > 0) {
      this.skipped.value += this.sizes.slice(0, drop).reduce((sum, part) => sum + part, 0);
      this.kept = this.kept.slice(drop);
      this.sizes = this.sizes.slice(drop);
    }
  }
  show() {
    this.dirty ||= requestAnimationFrame(() => {
      this.dirty = 0;
      this.lines.value = [...this.kept];
      this.open.value = this.terminal.open;
    });
  }
  async follow() {
    const decoder = new TextDecoder();
    try {
      const response = await open(`runs/${this.runId}/output?follow=true`, { signal: this.stop.signal });
      this.state.value = "following";
      const reader = response.body.getReader();
      for (; ; ) {
        const { done, value } = await reader.read();
        if (done) break;
        this.terminal.feed(decoder.decode(value, { stream: true }));
        this.show();
      }
      this.terminal.end();
      this.show();
      this.state.value = "ended";
    } catch (error) {
      if (this.stop.signal.aborted) return;
      this.state.value = error instanceof ApiError && !error.isAway ? "ended" : "away";
      this.problem.value = error instanceof ApiError ? error.problem.detail : "The connection broke off.";
    }
  }
};
async function tailOf(runId) {
  const response = await open(`runs/${runId}/output`, { headers: { Range: "bytes=-4096" } });
  const lines = [];
  const terminal = new Terminal((line) => lines.push(line.map((piece) => piece.text).join("")));
  terminal.feed(await response.text());
  terminal.end();
  return lines.slice(-8).join("\n");
}

// src/views/jobs.tsx
var ROW = 32;
function matcher(text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const tests = words.map((word2) => {
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
      default:
        return (job) => job.identity.toLowerCase().includes(word2) || (job.description ?? "").toLowerCase().includes(word2);
    }
  });
  return (job) => tests.every((test) => test(job));
}
var far = "9999";
var SORTS = {
  name: (a5, b4) => a5.identity < b4.identity ? -1 : a5.identity > b4.identity ? 1 : 0,
  next: (a5, b4) => (a5.next?.startsAt ?? far) < (b4.next?.startsAt ?? far) ? -1 : 1,
  last: (a5, b4) => lastTime(b4) < lastTime(a5) ? -1 : 1,
  state: (a5, b4) => rank(a5) - rank(b4)
};
function lastTime(job) {
  return job.last?.startedAt ?? job.last?.chosenTime ?? job.last?.periodId ?? "";
}
function rank(job) {
  return isFailing(job) ? 0 : job.running > 0 ? 1 : job.paused ? 2 : job.suspended ? 3 : 4;
}
function Jobs() {
  const query = route.value.query.get("q") ?? "";
  const sort = route.value.query.get("sort") ?? "name";
  const [selected, setSelected] = d2(/* @__PURE__ */ new Set());
  const [cursor, setCursor] = d2(-1);
  const [top, setTop] = d2(0);
  const [height, setHeight] = d2(800);
  const box = T2(null);
  A2(() => {
    ++watchesJobs.value;
    void loadJobs();
    const look = () => setHeight(innerHeight);
    addEventListener("resize", look);
    look();
    return () => {
      --watchesJobs.value;
      removeEventListener("resize", look);
    };
  }, []);
  const rows = w2(() => {
    const found = [...jobs.value.values()].filter(matcher(query));
    return found.sort(SORTS[sort] ?? SORTS.name);
  }, [jobs.value, query, sort]);
  const first = Math.max(0, Math.floor(top / ROW) - 6);
  const shown = rows.slice(first, first + Math.ceil(height / ROW) + 12);
  const latest = T2({ rows, cursor, selected });
  latest.current = { rows, cursor, selected };
  A2(() => {
    const keyed = (event) => {
      const { rows: rows2, cursor: cursor2, selected: selected2 } = latest.current;
      if (event.target instanceof HTMLInputElement || event.metaKey || event.ctrlKey || document.querySelector("dialog[open]")) return;
      const move = event.key === "j" ? 1 : event.key === "k" ? -1 : 0;
      const job = rows2[cursor2];
      if (move !== 0) {
        const next = Math.min(rows2.length - 1, Math.max(0, cursor2 + move));
        setCursor(next);
        const at = next * ROW;
        const view = box.current;
        if (at < view.scrollTop) view.scrollTop = at;
        else if (at > view.scrollTop + view.clientHeight - 2 * ROW) view.scrollTop = at - view.clientHeight + 2 * ROW;
      } else if (event.key === "Enter" && job && (event.target === document.body || event.target === box.current)) go(`/jobs/${encodeURIComponent(job.identity)}`);
      else if (event.key === "x" && job) toggle2(job.identity);
      else if (event.key === "p" && (selected2.size > 0 || job)) pause(selected2.size > 0 ? [...selected2] : [job.identity]);
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", keyed);
    return () => removeEventListener("keydown", keyed);
  }, []);
  const toggle2 = (name) => {
    const next = new Set(latest.current.selected);
    if (!next.delete(name)) next.add(name);
    setSelected(next);
  };
  const header = (key, text, extra = "") => /* @__PURE__ */ a4("span", { class: extra, role: "columnheader", "aria-sort": sort === key ? "ascending" : "none", children: /* @__PURE__ */ a4("button", { type: "button", class: "sort", onClick: () => setQuery("sort", key === "name" ? "" : key), children: [
    text,
    sort === key ? " ▾" : ""
  ] }) });
  return /* @__PURE__ */ a4($, { children: [
    /* @__PURE__ */ a4("div", { class: "bar", children: [
      /* @__PURE__ */ a4("h1", { children: "Jobs" }),
      /* @__PURE__ */ a4("span", { class: "soft num", children: [
        query ? `${rows.length.toLocaleString("en-US")} of ${jobs.value.size.toLocaleString("en-US")}` : jobs.value.size.toLocaleString("en-US"),
        jobsComplete.value ? "" : " …"
      ] }),
      /* @__PURE__ */ a4("input", { id: "filter", type: "search", placeholder: "Filter: words, team/, is:failing is:paused is:running", "aria-label": "Filter", value: query, onInput: (event) => setQuery("q", event.currentTarget.value) }),
      /* @__PURE__ */ a4("span", { class: "grow" }),
      selected.size > 0 && /* @__PURE__ */ a4($, { children: [
        /* @__PURE__ */ a4("span", { class: "soft", children: [
          counted(selected.size, "job"),
          " selected"
        ] }),
        /* @__PURE__ */ a4("button", { type: "button", onClick: () => pause([...selected]), children: "Pause…" }),
        /* @__PURE__ */ a4("button", { type: "button", onClick: () => resumeJobs([...selected]), children: "Resume…" }),
        /* @__PURE__ */ a4("button", { type: "button", class: "quiet", onClick: () => setSelected(/* @__PURE__ */ new Set()), children: "Clear" })
      ] })
    ] }),
    /* @__PURE__ */ a4("section", { class: "panel rows", "aria-label": "All jobs", children: [
      /* @__PURE__ */ a4("div", { class: "table", role: "table", "aria-rowcount": rows.length, children: [
        /* @__PURE__ */ a4("div", { class: "row heads", role: "row", children: [
          /* @__PURE__ */ a4("span", { role: "columnheader", children: /* @__PURE__ */ a4("span", { class: "sr", children: "Selected" }) }),
          header("state", "State"),
          header("name", "Name"),
          /* @__PURE__ */ a4("span", { role: "columnheader", class: "hide", children: "Schedule" }),
          header("next", "Next"),
          header("last", "Last", "hide")
        ] }),
        /* @__PURE__ */ a4("div", { class: "view", ref: box, role: "rowgroup", tabIndex: 0, onScroll: (event) => setTop(event.currentTarget.scrollTop), children: /* @__PURE__ */ a4("div", { class: "all", style: { height: `${Math.max(1, rows.length) * ROW}px` }, role: "presentation", children: shown.map((job, i4) => /* @__PURE__ */ a4("div", { class: `row ${first + i4 === cursor ? "at" : ""}`, role: "row", "aria-rowindex": first + i4 + 1, style: { top: `${(first + i4) * ROW}px` }, children: [
          /* @__PURE__ */ a4("span", { role: "cell", children: /* @__PURE__ */ a4("input", { type: "checkbox", "aria-label": `Select ${plain(job.identity)}`, checked: selected.has(job.identity), onChange: () => toggle2(job.identity) }) }),
          /* @__PURE__ */ a4("span", { role: "cell", children: /* @__PURE__ */ a4(State, { job }) }),
          /* @__PURE__ */ a4("span", { role: "cell", class: "cut", children: [
            /* @__PURE__ */ a4(Name, { of: job.identity }),
            job.description ? /* @__PURE__ */ a4("span", { class: "faint", children: [
              " ",
              plain(job.description)
            ] }) : null
          ] }),
          /* @__PURE__ */ a4("span", { role: "cell", class: "mono cut hide", children: plain(job.schedule) }),
          /* @__PURE__ */ a4("span", { role: "cell", class: "num cut", children: job.next ? /* @__PURE__ */ a4(Time, { at: job.next.startsAt }) : /* @__PURE__ */ a4("span", { class: "faint", children: "never" }) }),
          /* @__PURE__ */ a4("span", { role: "cell", class: "num cut hide", children: job.last && lastTime(job) ? /* @__PURE__ */ a4("a", { href: job.last.runId ? `#/runs/${job.last.runId}` : `#/jobs/${encodeURIComponent(job.identity)}`, children: /* @__PURE__ */ a4(Time, { at: lastTime(job) }) }) : /* @__PURE__ */ a4("span", { class: "faint", children: "not yet" }) })
        ] }, job.identity)) }) })
      ] }),
      rows.length === 0 && jobsComplete.value && /* @__PURE__ */ a4("p", { class: "note", children: query ? "No job is like that." : "There are no jobs yet. Files are the truth: write one, then reload." })
    ] })
  ] });
}
function State({ job }) {
  const mark2 = job.last ? markOf(job.last) : null;
  if (job.running > 0) return /* @__PURE__ */ a4("span", { class: "state", children: [
    /* @__PURE__ */ a4(Glyph, { mark: "run", label: "" }),
    " running"
  ] });
  if (job.paused) return /* @__PURE__ */ a4("span", { class: "state", children: [
    /* @__PURE__ */ a4(Glyph, { mark: "pause" }),
    " paused"
  ] });
  if (job.suspended) return /* @__PURE__ */ a4("span", { class: "state", children: [
    /* @__PURE__ */ a4(Glyph, { mark: "pause" }),
    " suspended"
  ] });
  if (mark2 && mark2 !== "ok") return /* @__PURE__ */ a4("span", { class: `state c-${mark2}`, children: [
    /* @__PURE__ */ a4(Glyph, { mark: mark2, label: "" }),
    " ",
    mark2 === "fail" ? "failed" : mark2 === "miss" ? "missed" : mark2 === "none" ? "no time" : mark2 === "skip" ? "skipped" : mark2 === "over" ? "passed over" : "unknown"
  ] });
  return /* @__PURE__ */ a4("span", { class: "state faint", children: [
    /* @__PURE__ */ a4(Glyph, { mark: mark2 ? "ok" : "next", label: "" }),
    " ",
    mark2 ? "fine" : "waiting"
  ] });
}

// src/views/runs.tsx
var older = y3({ runs: [], next: void 0 });
function path(before) {
  const { query } = route.value;
  const what = query.get("show") ?? "all";
  const parts = ["limit=100"];
  if (what === "failed") parts.push("result=failed");
  if (what === "running") parts.push("result=running");
  if (what === "missed") parts.push("outcome=missed");
  if (what === "skipped") parts.push("outcome=skipped");
  const job = query.get("job");
  if (job) parts.push(`job=${encodeURIComponent(job)}`);
  if (before !== void 0) parts.push(`before=${before}`);
  return `runs?${parts.join("&")}`;
}
var asked = new Asked(() => get(path()), 700);
function Runs() {
  const { query } = route.value;
  const show = query.get("show") ?? "all";
  const job = query.get("job") ?? "";
  A2(() => watch2(asked), []);
  A2(() => {
    older.value = { runs: [], next: void 0 };
    asked.value.value = null;
    void asked.now();
  }, [show, job]);
  const page = asked.value.value;
  const newest = page?.runs ?? [];
  const last2 = newest[newest.length - 1]?.number ?? 0;
  const rows = [...newest, ...older.value.runs.filter((run) => run.number < last2)];
  const next = older.value.runs.length > 0 ? older.value.next : page?.next;
  const more = async () => {
    const answer = await get(path(next));
    older.value = { runs: [...older.value.runs, ...answer.runs], next: answer.next };
  };
  return /* @__PURE__ */ a4($, { children: [
    /* @__PURE__ */ a4("div", { class: "bar", children: [
      /* @__PURE__ */ a4("h1", { children: "Runs" }),
      job && /* @__PURE__ */ a4("span", { class: "soft", children: [
        "of ",
        /* @__PURE__ */ a4("b", { children: plain(job) }),
        " ",
        /* @__PURE__ */ a4("button", { type: "button", class: "quiet", onClick: () => setQuery("job", ""), children: "all jobs" })
      ] }),
      /* @__PURE__ */ a4("span", { class: "grow" }),
      /* @__PURE__ */ a4(Segments, { label: "Which", value: show, options: [["all", "All"], ["running", "Running"], ["failed", "Failed"], ["skipped", "Skipped"], ["missed", "Missed"]], onChange: (value) => setQuery("show", value === "all" ? "" : value) })
    ] }),
    /* @__PURE__ */ a4("section", { class: "panel", "aria-label": "Runs", children: [
      /* @__PURE__ */ a4(RunTable, { runs: rows }),
      page && rows.length === 0 && /* @__PURE__ */ a4("p", { class: "note", children: "None." }),
      next !== void 0 && /* @__PURE__ */ a4("p", { class: "note", children: /* @__PURE__ */ a4("button", { type: "button", onClick: () => void more(), children: "Older" }) })
    ] })
  ] });
}
function RunTable({ runs, plainJob }) {
  void tickSecond.value;
  return /* @__PURE__ */ a4("div", { class: "scroll", children: /* @__PURE__ */ a4("table", { children: [
    /* @__PURE__ */ a4("thead", { children: /* @__PURE__ */ a4("tr", { children: [
      /* @__PURE__ */ a4("th", { children: /* @__PURE__ */ a4("span", { class: "sr", children: "Outcome" }) }),
      !plainJob && /* @__PURE__ */ a4("th", { children: "Job" }),
      /* @__PURE__ */ a4("th", { children: "Time" }),
      /* @__PURE__ */ a4("th", { class: "hide", children: "Why" }),
      /* @__PURE__ */ a4("th", { children: "Took" }),
      /* @__PURE__ */ a4("th", { children: "End" }),
      /* @__PURE__ */ a4("th", { class: "hide", children: "Output" })
    ] }) }),
    /* @__PURE__ */ a4("tbody", { children: runs.map((run) => {
      const mark2 = markOf(run);
      const at = run.startedAt ?? run.chosenTime ?? run.periodId ?? run.passedOver?.last;
      const took = run.startedAt ? run.endedAt ? duration(Date.parse(run.endedAt) - Date.parse(run.startedAt)) : mark2 === "run" ? counter(now() - Date.parse(run.startedAt)) : "" : "";
      return /* @__PURE__ */ a4("tr", { children: [
        /* @__PURE__ */ a4("td", { class: "g", children: /* @__PURE__ */ a4(Glyph, { mark: mark2 }) }),
        !plainJob && /* @__PURE__ */ a4("td", { class: "cut", children: /* @__PURE__ */ a4(Name, { of: run.job }) }),
        /* @__PURE__ */ a4("td", { class: "num", children: run.runId ? /* @__PURE__ */ a4("a", { class: "in", href: `#/runs/${run.runId}`, children: /* @__PURE__ */ a4(Time, { at }) }) : /* @__PURE__ */ a4(Time, { at }) }),
        /* @__PURE__ */ a4("td", { class: "hide soft", children: run.trigger === "schedule" ? "" : run.trigger }),
        /* @__PURE__ */ a4("td", { class: "num", children: took }),
        /* @__PURE__ */ a4("td", { class: `cut c-${mark2}`, children: plain(endOf(run)) }),
        /* @__PURE__ */ a4("td", { class: "num hide", children: run.outputBytes ? /* @__PURE__ */ a4("a", { href: `#/runs/${run.runId}`, children: bytes(run.outputBytes) }) : "" })
      ] }, run.number || run.runId);
    }) })
  ] }) });
}

// src/views/job.tsx
function JobView({ name }) {
  const path3 = `jobs/${encodeURIComponent(name)}`;
  const [job] = d2(() => new Asked(() => get(path3), 700));
  const [coming] = d2(() => new Asked(() => get(`${path3}/decisions?count=10`), 5e3));
  const [history2] = d2(() => new Asked(() => get(`runs?limit=100&job=${encodeURIComponent(name)}`), 700));
  A2(() => {
    const off = [watch2(job), watch2(coming), watch2(history2)];
    return () => off.forEach((end) => end());
  }, []);
  void tickSecond.value;
  useKeys(job.value.value, name);
  const known = job.value.value;
  if (!known) return job.error.value ? /* @__PURE__ */ a4(Unknown, { name, error: job.error.value }) : /* @__PURE__ */ a4("p", { class: "note", children: "Asking krond…" });
  const runs = history2.value.value?.runs ?? [];
  const shown = [...runs].reverse();
  return /* @__PURE__ */ a4($, { children: [
    /* @__PURE__ */ a4("div", { class: "title", children: [
      /* @__PURE__ */ a4("div", { class: "grow", children: [
        /* @__PURE__ */ a4("div", { class: "faint crumb", children: [
          /* @__PURE__ */ a4("a", { href: "#/jobs", children: "Jobs" }),
          " /"
        ] }),
        /* @__PURE__ */ a4("h1", { class: "name-line", children: [
          /* @__PURE__ */ a4("bdi", { children: plain(name) }),
          " ",
          /* @__PURE__ */ a4("span", { class: "pill", children: /* @__PURE__ */ a4(State, { job: known }) }),
          " ",
          /* @__PURE__ */ a4(Strip, { runs: shown.slice(-30) })
        ] }),
        /* @__PURE__ */ a4("p", { class: "words", children: [
          plain(known.words ?? known.description ?? ""),
          !known.words && /* @__PURE__ */ a4($, { children: [
            " ",
            /* @__PURE__ */ a4("code", { children: plain(known.scheduleAsWritten ?? known.schedule) }),
            " ",
            known.timezone
          ] })
        ] }),
        known.paused && /* @__PURE__ */ a4("p", { class: "words c-skip", children: [
          "Paused",
          known.paused.since ? /* @__PURE__ */ a4($, { children: [
            " since ",
            /* @__PURE__ */ a4(Time, { at: known.paused.since })
          ] }) : null,
          known.paused.until ? /* @__PURE__ */ a4($, { children: [
            ", until ",
            /* @__PURE__ */ a4(Time, { at: known.paused.until })
          ] }) : ", until somebody resumes it",
          "."
        ] })
      ] }),
      /* @__PURE__ */ a4("div", { class: "acts", children: [
        /* @__PURE__ */ a4("button", { type: "button", onClick: () => toggle(known), children: [
          known.paused ? "Resume…" : "Pause…",
          /* @__PURE__ */ a4("kbd", { children: "P" })
        ] }),
        /* @__PURE__ */ a4("button", { type: "button", class: "main", onClick: () => runNow(name), children: [
          "Run now…",
          /* @__PURE__ */ a4("kbd", { children: "R" })
        ] })
      ] })
    ] }),
    /* @__PURE__ */ a4("div", { class: "cols", children: [
      /* @__PURE__ */ a4("div", { children: [
        /* @__PURE__ */ a4(NextPeriod, { decisions: coming.value.value?.decisions ?? [], name }),
        /* @__PURE__ */ a4("div", { class: "two", children: [
          /* @__PURE__ */ a4(Coming, { decisions: coming.value.value?.decisions ?? [] }),
          /* @__PURE__ */ a4(Durations, { runs: shown, usual: known.usualSeconds ?? null, limit: limitOf(known) })
        ] }),
        /* @__PURE__ */ a4(Panel, { title: "Runs", more: /* @__PURE__ */ a4("a", { class: "in", href: `#/runs?job=${encodeURIComponent(name)}`, children: "all" }), class: "gap", children: [
          /* @__PURE__ */ a4(RunTable, { runs: runs.slice(0, 20), plainJob: true }),
          runs.length === 0 && /* @__PURE__ */ a4("p", { class: "note", children: "Not yet." })
        ] })
      ] }),
      /* @__PURE__ */ a4("aside", { children: [
        /* @__PURE__ */ a4(WhyNot, { name }),
        /* @__PURE__ */ a4(Panel, { title: "Definition", more: /* @__PURE__ */ a4("code", { class: "faint cut", children: [
          plain(known.file.split("/").pop() ?? ""),
          known.line ? `:${known.line}` : ""
        ] }), class: "gap", children: /* @__PURE__ */ a4("pre", { children: plain(known.source ?? JSON.stringify(known.definition, null, 2)) }) }),
        /* @__PURE__ */ a4(Rules, { job: known }),
        /* @__PURE__ */ a4(LastOutput, { runs })
      ] })
    ] })
  ] });
}
function useKeys(known, name) {
  const latest = T2(known);
  latest.current = known;
  A2(() => {
    const keyed = (event) => {
      const job = latest.current;
      if (!job || isTyping(event) || document.querySelector("dialog[open]")) return;
      if (event.key === "r") runNow(name);
      else if (event.key === "p") job.paused ? resumeJobs([name]) : pause([name]);
      else if (event.key === "l" && job.last?.runId) go(`/runs/${job.last.runId}`);
      else if (event.key === "w") document.getElementById("why-at")?.focus();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", keyed);
    return () => removeEventListener("keydown", keyed);
  }, [name]);
}
function isTyping(event) {
  const on = event.target;
  return event.metaKey || event.ctrlKey || event.altKey || on instanceof HTMLInputElement || on instanceof HTMLTextAreaElement || on instanceof HTMLSelectElement;
}
function Unknown({ name, error }) {
  A2(() => void loadJobs(), []);
  const near = [...jobs.value.keys()].filter((other) => other.includes(name) || name.includes(other) || other.slice(0, 4) === name.slice(0, 4)).slice(0, 8);
  return /* @__PURE__ */ a4(Panel, { title: error.status === 404 ? "There is no such job" : "krond does not say", children: [
    /* @__PURE__ */ a4("p", { class: "note", children: plain(error.problem.detail) }),
    near.length > 0 && /* @__PURE__ */ a4("ul", { class: "list", children: near.map((other) => /* @__PURE__ */ a4("li", { children: [
      /* @__PURE__ */ a4(Glyph, { mark: "next" }),
      /* @__PURE__ */ a4("a", { class: "in", href: `#/jobs/${encodeURIComponent(other)}`, children: plain(other) })
    ] })) })
  ] });
}
function Strip({ runs }) {
  if (runs.length === 0) return null;
  const counts = /* @__PURE__ */ new Map();
  for (const run of runs) counts.set(endOf(run).split(":")[0], (counts.get(endOf(run).split(":")[0]) ?? 0) + 1);
  const label = `Last ${runs.length}: ${[...counts].map(([what, count]) => `${count} ${what}`).join(", ")}`;
  return /* @__PURE__ */ a4("svg", { class: "strip", style: { width: `${runs.length * 6}px` }, viewBox: `0 0 ${runs.length * 6} 16`, role: "img", "aria-label": label, children: runs.map((run, i4) => {
    const mark2 = markOf(run);
    const quiet = mark2 === "ok" || mark2 === "run" || mark2 === "over";
    return /* @__PURE__ */ a4("rect", { x: i4 * 6, y: quiet ? 4 : 1, width: "4", height: quiet ? 8 : 14, rx: "1.5", fill: `var(--${mark2 === "unknown" ? "fail" : mark2})` });
  }) });
}
function NextPeriod({ decisions, name }) {
  const [at, setAt] = d2(0);
  const [buckets, setBuckets] = d2(void 0);
  const decision = decisions[Math.min(at, decisions.length - 1)];
  A2(() => {
    setBuckets(void 0);
    if (!decision) return void 0;
    const mine = new AbortController();
    get(`jobs/${encodeURIComponent(name)}/explain?period=${encodeURIComponent(decision.periodId)}`, mine.signal).then((answer) => setBuckets(answer.buckets)).catch(() => void 0);
    return () => mine.abort();
  }, [decision?.periodId]);
  const draw2 = b((width) => explainShapes(decision, buckets, width), [decision, buckets, zone.value]);
  if (!decision) return null;
  const chosen = decision.chosenTime ? Date.parse(decision.chosenTime) : null;
  const isPoint = decision.windowStart === decision.windowEnd && chosen !== null;
  const command = `kron explain ${/^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`} --period ${decision.periodId}`;
  return /* @__PURE__ */ a4(
    Panel,
    {
      title: /* @__PURE__ */ a4($, { children: [
        /* @__PURE__ */ a4("h2", { children: day(Date.parse(decision.nominalTime)) }),
        /* @__PURE__ */ a4("span", { class: "num", children: chosen === null ? /* @__PURE__ */ a4("b", { class: "c-none", children: "no time" }) : /* @__PURE__ */ a4($, { children: [
          /* @__PURE__ */ a4("b", { class: "after", children: seconds(chosen) }),
          " ",
          /* @__PURE__ */ a4("span", { class: "faint", children: relative(chosen) })
        ] }) })
      ] }),
      label: "Next period",
      more: /* @__PURE__ */ a4("span", { class: "seg", role: "group", "aria-label": "Period", children: [
        /* @__PURE__ */ a4("button", { type: "button", "aria-label": "Earlier period", disabled: at === 0, onClick: () => setAt(at - 1), children: "‹" }),
        /* @__PURE__ */ a4("button", { type: "button", "aria-label": "Later period", disabled: at >= decisions.length - 1, onClick: () => setAt(at + 1), children: "›" })
      ] }),
      children: [
        !isPoint && /* @__PURE__ */ a4(Canvas, { draw: draw2, label: chosen === null ? `No time in the window is allowed: ${decision.reason}` : `The window from ${moment(Date.parse(decision.windowStart))} to ${moment(Date.parse(decision.windowEnd))}; ${seconds(chosen)} was chosen, at draw ${decision.attempts}` }),
        /* @__PURE__ */ a4("div", { class: "facts soft", children: [
          isPoint && /* @__PURE__ */ a4("span", { children: "no window: it runs as written" }),
          decision.attempts === 1 && /* @__PURE__ */ a4("span", { children: "taken at the first draw" }),
          decision.attempts > 1 && /* @__PURE__ */ a4("span", { children: [
            /* @__PURE__ */ a4("b", { class: "num", children: decision.attempts }),
            " draws"
          ] }),
          decision.reason && /* @__PURE__ */ a4("span", { children: plain(decision.reason) }),
          decision.constraintsApplied && decision.constraintsApplied !== "none" && /* @__PURE__ */ a4("span", { children: plain(decision.constraintsApplied) }),
          /* @__PURE__ */ a4("span", { children: [
            "seed ",
            /* @__PURE__ */ a4("code", { children: [
              decision.seedHash.slice(0, 8),
              "…"
            ] })
          ] }),
          /* @__PURE__ */ a4("button", { type: "button", class: "quiet", onClick: () => void navigator.clipboard.writeText(command).then(() => say("Copied.")), children: "Copy as kron explain" })
        ] })
      ]
    }
  );
}
function explainShapes(decision, buckets, width) {
  const height = 150;
  const base = 112;
  const shapes = [];
  if (!decision) return { shapes, height };
  const start = Date.parse(decision.windowStart);
  const end = Date.parse(decision.windowEnd);
  const isPoint = end - start < 1e3;
  const scale = isPoint ? new Scale(start - 18e5, start + 18e5, 20, width - 20) : new Scale(start, end, 20, width - 20);
  if (!isPoint) {
    shapes.push({ kind: "rect", x: scale.left, y: base - 26, w: scale.right - scale.left, h: 26, r: 4, fill: "win" });
    const most = Math.max(1e-4, ...(buckets ?? []).map((bucket) => bucket.share));
    const wide = (scale.right - scale.left) / Math.max(1, buckets?.length ?? 1);
    (buckets ?? []).forEach((bucket, i4) => {
      const tall = Math.max(2, bucket.share / most * 86);
      shapes.push({ kind: "rect", x: scale.left + i4 * wide + 1, y: base - tall, w: wide - 2, h: tall, r: 2, fill: "after", opacity: 0.28 });
      if (bucket.allowed < 0.5) shapes.push({ kind: "hatch", x: scale.left + i4 * wide, y: base - 92, w: wide, h: 92, stroke: "none" });
    });
  }
  for (const tick of ticks(scale, 80)) {
    const x3 = scale.x(tick.t);
    shapes.push({ kind: "line", x1: x3, y1: base, x2: x3, y2: base + 4, stroke: "line" });
    shapes.push({ kind: "text", x: Math.min(Math.max(x3, scale.left + 14), scale.right - 14), y: base + 17, text: tick.label, fill: "faint", align: "center" });
  }
  shapes.push({ kind: "line", x1: scale.left, y1: base, x2: scale.right, y2: base, stroke: "line" });
  const nominal = scale.x(Date.parse(decision.nominalTime));
  if (nominal >= scale.left - 1 && nominal <= scale.right + 1) shapes.push({ kind: "circle", x: nominal, y: base, r: 3, fill: "before" });
  if (decision.chosenTime) {
    const t4 = Date.parse(decision.chosenTime);
    const x3 = scale.x(t4);
    shapes.push({ kind: "rect", x: x3 - 1.5, y: 22, w: 3, h: base - 22, r: 1.5, fill: "after" });
    shapes.push({ kind: "circle", x: x3, y: 22, r: 9, fill: "after" });
    shapes.push({ kind: "text", x: x3, y: 26, text: String(Math.max(1, decision.attempts)), fill: "panel", align: "center", weight: 650 });
    const flips = x3 > scale.right - 80;
    shapes.push({ kind: "text", x: flips ? x3 - 15 : x3 + 15, y: 27, text: seconds(t4), fill: "ink", align: flips ? "right" : "left", weight: 650, size: 13 });
  } else {
    shapes.push({ kind: "hatch", x: scale.left, y: base - 92, w: scale.right - scale.left, h: 92, stroke: "none" });
  }
  return { shapes, height };
}
function Coming({ decisions }) {
  return /* @__PURE__ */ a4(Panel, { title: "Coming", children: [
    /* @__PURE__ */ a4("table", { children: /* @__PURE__ */ a4("tbody", { children: decisions.slice(0, 8).map((decision) => {
      const start = Date.parse(decision.windowStart);
      const end = Date.parse(decision.windowEnd);
      const chosen = decision.chosenTime ? Date.parse(decision.chosenTime) : null;
      const u4 = chosen === null || end <= start ? 0 : (chosen - start) / (end - start);
      return /* @__PURE__ */ a4("tr", { children: [
        /* @__PURE__ */ a4("td", { children: day(chosen ?? start) }),
        /* @__PURE__ */ a4("td", { class: "num", children: chosen === null ? /* @__PURE__ */ a4("span", { class: "c-none", children: [
          /* @__PURE__ */ a4(Glyph, { mark: "none", label: "" }),
          " no time"
        ] }) : /* @__PURE__ */ a4("b", { children: seconds(chosen) }) }),
        /* @__PURE__ */ a4("td", { class: "wide", children: end > start && chosen !== null && /* @__PURE__ */ a4("svg", { class: "place", viewBox: "0 0 200 14", preserveAspectRatio: "none", "aria-hidden": "true", children: [
          /* @__PURE__ */ a4("rect", { y: "3", width: "200", height: "8", rx: "4", fill: "var(--win)" }),
          /* @__PURE__ */ a4("rect", { x: u4 * 197, width: "3", height: "14", rx: "1.2", fill: "var(--after)" })
        ] }) })
      ] });
    }) }) }),
    decisions.length === 0 && /* @__PURE__ */ a4("p", { class: "note", children: "Nothing that a clock foresees." })
  ] });
}
function limitOf(job) {
  const text = job.definition?.timeout;
  const found = typeof text === "string" ? /^(\d+)([smhd])$/.exec(text) : null;
  return found ? Number(found[1]) * { s: 1, m: 60, h: 3600, d: 86400 }[found[2]] : null;
}
function Durations({ runs, usual, limit }) {
  const points = runs.filter((run) => run.startedAt && run.endedAt).map((run) => ({ mark: markOf(run), took: (Date.parse(run.endedAt) - Date.parse(run.startedAt)) / 1e3, at: Date.parse(run.startedAt) }));
  const sorted = points.filter((point) => point.mark === "ok").map((point) => point.took).sort((a5, b4) => a5 - b4);
  const median = usual ?? (sorted.length >= 5 ? sorted[sorted.length >> 1] : null);
  const draw2 = b(
    (width) => {
      const [height, left, base] = [170, 56, 146];
      const shapes = [];
      const most = Math.max(1, ...points.map((point) => point.took));
      const top = limit && limit < most * 3 ? Math.max(limit * 1.08, most) : roundUp(most);
      const x3 = (i4) => left + (points.length < 2 ? 0.5 : i4 / (points.length - 1)) * (width - left - 20);
      const y5 = (s4) => base - s4 / top * (base - 16);
      for (const part of [0, 0.5, 1]) {
        shapes.push({ kind: "line", x1: left, y1: Math.round(y5(top * part)) + 0.5, x2: width - 14, y2: Math.round(y5(top * part)) + 0.5, stroke: "hair" });
        shapes.push({ kind: "text", x: left - 8, y: y5(top * part) + 4, text: part === 0 ? "0" : duration(top * part * 1e3), fill: "faint", align: "right", most: left - 10 });
      }
      if (limit && limit <= top) {
        shapes.push({ kind: "line", x1: left, y1: y5(limit), x2: width - 14, y2: y5(limit), stroke: "fail", dash: true });
        shapes.push({ kind: "text", x: width - 14, y: y5(limit) - 5, text: `ended after ${duration(limit * 1e3)}`, fill: "fail", align: "right" });
      }
      points.forEach((point, i4) => {
        if (point.mark === "ok") shapes.push({ kind: "circle", x: x3(i4), y: y5(point.took), r: 2.6, fill: "ok" });
        else shapes.push({ kind: "glyph", x: x3(i4), y: y5(point.took), mark: point.mark });
      });
      if (median !== null) shapes.push({ kind: "line", x1: left, y1: y5(median), x2: width - 14, y2: y5(median), stroke: "after", opacity: 0.7, width: 1.4 });
      if (points.length > 1) {
        shapes.push({ kind: "text", x: left, y: height - 8, text: moment(points[0].at), fill: "faint" });
        shapes.push({ kind: "text", x: width - 14, y: height - 8, text: moment(points[points.length - 1].at), fill: "faint", align: "right" });
      }
      return { shapes, height };
    },
    [runs, zone.value]
  );
  return /* @__PURE__ */ a4(Panel, { title: "How long it takes", more: median !== null ? /* @__PURE__ */ a4("span", { class: "soft", children: [
    "usually ",
    /* @__PURE__ */ a4("b", { class: "num", children: duration(median * 1e3) })
  ] }) : null, children: points.length === 0 ? /* @__PURE__ */ a4("p", { class: "note", children: "Nobody knows yet." }) : /* @__PURE__ */ a4(Canvas, { draw: draw2, label: `Durations of the last ${points.length} runs${median === null ? "" : `, usually ${duration(median * 1e3)}`}` }) });
}
function WhyNot({ name }) {
  const [at, setAt] = d2(route.value.query.get("why") ?? "");
  const [answer, setAnswer] = d2(null);
  const ask = async () => {
    const t4 = Date.parse(zone.value === "utc" ? `${at}Z` : at);
    if (Number.isNaN(t4)) return;
    try {
      setAnswer(await get(`jobs/${encodeURIComponent(name)}/why?at=${encodeURIComponent(new Date(t4).toISOString().replace(/\.\d+Z/, "Z"))}`));
    } catch (error) {
      setAnswer(error instanceof ApiError ? error.status === 404 ? "This krond cannot say yet." : error.problem.detail : String(error));
    }
  };
  const sentence = typeof answer === "string" ? answer : [answer?.sentence, answer?.reason].filter(Boolean).join(" ");
  return /* @__PURE__ */ a4(Panel, { title: "Why not?", more: /* @__PURE__ */ a4("span", { class: "faint", children: zone.value === "utc" ? "UTC" : "your time" }), children: [
    /* @__PURE__ */ a4("form", { class: "inline", onSubmit: (event) => {
      event.preventDefault();
      void ask();
    }, children: [
      /* @__PURE__ */ a4("input", { id: "why-at", type: "datetime-local", step: "1", "aria-label": "At which time", value: at, onInput: (event) => setAt(event.currentTarget.value) }),
      /* @__PURE__ */ a4("button", { type: "submit", children: "Ask" })
    ] }),
    answer && /* @__PURE__ */ a4("div", { class: "why", role: "status", children: plain(sentence) }),
    answer && typeof answer !== "string" && answer.instead && /* @__PURE__ */ a4("p", { class: "note", children: plain(answer.instead) })
  ] });
}
function Rules({ job }) {
  const definition = job.definition ?? {};
  const policy = definition.policy ?? {};
  const rows = [];
  const late = policy["deadline"];
  rows.push(["Late", late === void 0 || late === "0s" ? "not at all: then missed" : `up to ${String(late)}, then missed`]);
  const overlap = { forbid: "skipped while one runs", allow: "runs beside it", replace: "ends the one before" }[String(policy["concurrency"] ?? "forbid")];
  rows.push(["Overlap", overlap ?? String(policy["concurrency"])]);
  if (definition.timeout) rows.push(["Time limit", `${String(definition.timeout)}, then TERM, then KILL`]);
  if (definition.user) rows.push(["Runs as", String(definition.user)]);
  const env = Object.keys(definition.env ?? {});
  if (env.length > 0) rows.push(["Environment", env.join(", ")]);
  rows.push(["Zone", job.timezone]);
  if (job.command ?? job.task) rows.push([job.task ? "Submits" : "Runs", job.task ?? job.command ?? ""]);
  return /* @__PURE__ */ a4(Panel, { title: "Rules", class: "gap", children: /* @__PURE__ */ a4("dl", { class: "kv", children: rows.map(([key, value]) => /* @__PURE__ */ a4($, { children: [
    /* @__PURE__ */ a4("dt", { children: key }),
    /* @__PURE__ */ a4("dd", { children: plain(value) })
  ] })) }) });
}
function LastOutput({ runs }) {
  const last2 = runs.find((run) => run.runId && (run.outputBytes ?? 0) > 0);
  const [tail, setTail] = d2("");
  A2(() => {
    if (!last2) return;
    tailOf(last2.runId).then(setTail).catch(() => void 0);
  }, [last2?.runId, last2?.outputBytes]);
  if (!last2) return null;
  return /* @__PURE__ */ a4(Panel, { title: "Last output", more: /* @__PURE__ */ a4("a", { class: "in", href: `#/runs/${last2.runId}`, children: "all of it" }), class: "gap", children: /* @__PURE__ */ a4("pre", { class: "soft", children: tail }) });
}

// src/draw/load.ts
var LOAD_HEIGHT = 104;
function load(before, after, scale, from, until, now2, spread2) {
  const shapes = [];
  const base = LOAD_HEIGHT - 14;
  const steps = Math.max(before.length, after.length, 1);
  const peak = Math.max(1, ...before, ...after);
  const top = roundUp(peak);
  const y5 = (value) => base - Math.sqrt(Math.max(0, value) / top) * (base - 14);
  const x3 = (i4) => scale.x(from + (until - from) * i4 / steps);
  for (const value of [.../* @__PURE__ */ new Set([Math.max(1, Math.round(top / 20)), Math.round(top / 4), top])].filter((step) => step > 0)) {
    shapes.push({ kind: "line", x1: scale.left, y1: Math.round(y5(value)) + 0.5, x2: scale.right, y2: Math.round(y5(value)) + 0.5, stroke: "hair" });
    shapes.push({ kind: "text", x: scale.left - 8, y: y5(value) + 4, text: value.toLocaleString("en-US"), fill: "faint", align: "right" });
  }
  const bars = [];
  for (let i4 = 0; i4 < steps; ++i4) {
    const value = (after[i4] ?? 0) * spread2 + (before[i4] ?? 0) * (1 - spread2);
    if (value <= 0) continue;
    const left = x3(i4);
    const past = left < scale.x(now2);
    bars.push({ kind: "rect", x: left, y: y5(value), w: Math.max(1, x3(i4 + 1) - left - 0.6), h: base - y5(value), fill: past ? "ok" : "after", ...past ? { opacity: 0.6 } : {} });
  }
  shapes.push(...bars);
  if (spread2 > 0) {
    let points = [];
    const flush = () => {
      if (points.length > 0) shapes.push({ kind: "path", points, stroke: "before", width: 1.1, opacity: 0.9 });
      points = [];
    };
    for (let i4 = 0; i4 < steps; ++i4) {
      const value = before[i4] ?? 0;
      if (value <= (after[i4] ?? 0)) {
        flush();
        continue;
      }
      if (points.length === 0) points.push([x3(i4), base]);
      points.push([x3(i4), y5(value)], [x3(i4 + 1), y5(value)], [x3(i4 + 1), base]);
    }
    flush();
    const at = before.indexOf(Math.max(...before, 0));
    if (at >= 0 && (before[at] ?? 0) > 2 * Math.max(1, ...after)) {
      const right = x3(at + 1) + 6;
      const flips = right > scale.right - 190;
      shapes.push({ kind: "text", x: flips ? x3(at) - 6 : right, y: 11, text: `${before[at]} at ${clock(from + (until - from) * at / steps)}, were they not spread`, fill: "before", align: flips ? "right" : "left" });
    }
  }
  shapes.push({ kind: "line", x1: scale.left, y1: base + 0.5, x2: scale.right, y2: base + 0.5, stroke: "line" });
  const mark2 = Math.round(scale.x(now2)) + 0.5;
  if (mark2 > scale.left && mark2 < scale.right) shapes.push({ kind: "line", x1: mark2, y1: 4, x2: mark2, y2: base, stroke: "ink", width: 1.2 });
  return shapes;
}

// src/draw/timeline.ts
var LANE = 23;
var TOP = 30;
var MOST_ROWS = 3;
function timeline(lanes, scale, from, now2, labels, spread2) {
  const shapes = [];
  const spots = [];
  const heights = lanes.map((lane) => lane.density ? LANE * 1.6 : LANE);
  const height = TOP + heights.reduce((sum, part) => sum + part, 0) + 4;
  for (const tick of ticks(scale)) {
    const x4 = Math.round(scale.x(tick.t)) + 0.5;
    shapes.push({ kind: "line", x1: x4, y1: TOP - 6, x2: x4, y2: height, stroke: tick.isDay ? "line" : "hair" });
    if (Math.abs(scale.x(now2) - x4) > 46) shapes.push({ kind: "text", x: x4, y: 16, text: tick.label, fill: tick.isDay ? "ink" : "faint", align: "center", weight: tick.isDay ? 550 : 400 });
  }
  let y5 = TOP;
  lanes.forEach((lane, row) => {
    const tall = heights[row];
    const middle = y5 + tall / 2;
    if (row > 0) shapes.push({ kind: "line", x1: 14, y1: Math.round(y5) + 0.5, x2: scale.right, y2: Math.round(y5) + 0.5, stroke: "hair" });
    const needs = lane.mark === "fail" || lane.mark === "miss" || lane.mark === "none" || lane.mark === "skip" || lane.mark === "unknown";
    if (needs) shapes.push({ kind: "glyph", x: 20, y: middle, mark: lane.mark });
    const many = lane.jobs > 1 ? ` × ${lane.jobs}` : "";
    shapes.push({ kind: "text", x: needs ? 30 : 14, y: middle + 4, text: plain(lane.name) + many, fill: "ink", size: 12, most: labels - (needs ? 40 : 24) });
    spots.push({ x: 0, y: y5, w: labels, h: tall, lines: [lane.name], href: `#/jobs${lane.jobs > 1 ? `?q=${encodeURIComponent(lane.name.replaceAll("*", ""))}` : `/${encodeURIComponent(lane.name)}`}` });
    drawLane(lane, scale, from, now2, y5, tall, spread2, shapes, spots);
    y5 += tall;
  });
  const x3 = Math.round(scale.x(now2)) + 0.5;
  if (x3 > scale.left && x3 < scale.right) {
    shapes.push({ kind: "line", x1: x3, y1: 22, x2: x3, y2: height, stroke: "ink", width: 1.2 });
    shapes.push({ kind: "rect", x: x3 - 20, y: 3, w: 40, h: 18, r: 9, fill: "ink" });
    shapes.push({ kind: "text", x: x3, y: 16, text: clock(now2), fill: "panel", align: "center", weight: 600 });
  }
  return { shapes, spots, height };
}
function drawLane(lane, scale, from, now2, y5, tall, spread2, shapes, spots) {
  const at = (s4) => scale.x(from + s4 * 1e3);
  const name = plain(lane.name);
  const middle = y5 + tall / 2;
  for (const [start, end] of lane.windows ?? []) {
    shapes.push({ kind: "rect", x: at(start), y: y5 + 3, w: Math.max(2, at(end) - at(start)), h: tall - 6, r: 6, fill: "win", stroke: "win-edge" });
  }
  if (lane.density) drawDensity(lane.density, scale, now2, y5, tall, shapes);
  const rows = rowsOf(lane.periods ?? []);
  for (const [i4, [nominal, start, end, chosen]] of (lane.periods ?? []).entries()) {
    const row = rows.of[i4];
    const h5 = (tall - 8) / rows.count;
    const top = y5 + 4 + row * h5;
    const left = at(start);
    const wide = at(end) - left;
    if (wide > 3) shapes.push({ kind: "rect", x: left, y: top, w: wide, h: h5 - (rows.count > 1 ? 1 : 0), r: 7, fill: "win", stroke: "win-edge" });
    if (chosen === null) {
      shapes.push({ kind: "glyph", x: left + wide / 2, y: top + h5 / 2, mark: "none" });
      spots.push({ x: left, y: y5, w: Math.max(wide, 8), h: tall, lines: [name, "no time in its window is allowed", `period ${moment(from + nominal * 1e3)}`], href: `#/jobs/${encodeURIComponent(lane.name)}` });
      continue;
    }
    const t4 = from + chosen * 1e3;
    const x3 = at(nominal + (chosen - nominal) * spread2);
    if (lane.usual && lane.usual > 0 && at(lane.usual) - at(0) > 6) {
      shapes.push({ kind: "rect", x: at(chosen), y: middle - 4, w: at(lane.usual) - at(0), h: 8, r: 3, stroke: "after", dash: true, opacity: 0.6 });
    }
    if (at(nominal) < x3 - 4) shapes.push({ kind: "circle", x: at(nominal), y: top + h5 / 2, r: 2.3, fill: "before" });
    shapes.push({ kind: "rect", x: x3 - 1.3, y: top, w: 2.6, h: h5, r: 1.2, fill: "after" });
    const window2 = end > start ? [`window ${clock(from + start * 1e3)}–${clock(from + end * 1e3)}`] : [];
    spots.push({ x: Math.min(left, x3 - 4), y: y5, w: Math.max(wide, 8), h: tall, lines: [name, `${seconds(t4)}, ${relative(t4, now2)}`, ...window2, ...lane.usual ? [`usually ${duration(lane.usual * 1e3)}`] : []], href: `#/jobs/${encodeURIComponent(lane.name)}` });
  }
  for (const [, start, end, mark2, runId] of lane.runs ?? []) {
    const left = at(start);
    const t4 = from + start * 1e3;
    const isRun = mark2 === "ok" || mark2 === "+" || mark2 === "run" || mark2 === "r";
    const active = mark2 === "run" || mark2 === "r";
    const right = end === null ? active ? scale.x(now2) : left : at(end);
    if (isRun || right - left > 4) {
      const fill = active ? "run" : isRun ? "ok" : mark2 === "fail" || mark2 === "x" || mark2 === "t" ? "fail" : "over";
      shapes.push({ kind: "rect", x: left, y: middle - 3.5, w: Math.max(2.5, right - left), h: 7, r: 2, fill });
    }
    const glyph2 = GLYPHS[mark2];
    if (glyph2) shapes.push({ kind: "glyph", x: left, y: middle, mark: glyph2 });
    const took = end === null ? [] : [`took ${duration((end - start) * 1e3)}`];
    spots.push({ x: left - 5, y: y5, w: Math.max(10, right - left + 5), h: tall, lines: [name, `${WORDS[mark2] ?? mark2} ${moment(t4)}`, ...took], href: runId ? `#/runs/${runId}` : `#/jobs/${encodeURIComponent(lane.name)}` });
  }
}
var GLYPHS = { fail: "fail", x: "fail", t: "fail", skip: "skip", s: "skip", miss: "miss", m: "miss", none: "none", n: "none", over: "over", o: "over", unknown: "unknown", "?": "unknown" };
var WORDS = { ok: "succeeded", "+": "succeeded", fail: "failed", x: "failed", t: "timed out", skip: "skipped", s: "skipped", miss: "missed", m: "missed", none: "no time", n: "no time", over: "passed over", o: "passed over", unknown: "ended, nobody knows how", "?": "ended, nobody knows how", run: "runs since", r: "runs since" };
function rowsOf(periods) {
  const ends = [];
  const of = periods.map(([, start, end]) => {
    let row = ends.findIndex((last2) => last2 <= start);
    if (row < 0) row = ends.length < MOST_ROWS ? ends.length : ends.indexOf(Math.min(...ends));
    ends[row] = end;
    return row;
  });
  return { of, count: Math.max(1, ends.length) };
}
function drawDensity(density, scale, now2, y5, tall, shapes) {
  const columns = 288;
  const most = Math.max(1, ...density.map(([, starts]) => starts));
  const wide = (scale.right - scale.left) / columns;
  for (const [column, starts] of density) {
    const x3 = scale.left + column * wide;
    const h5 = Math.max(3, Math.sqrt(starts / most) * (tall - 8));
    shapes.push({ kind: "rect", x: x3, y: y5 + tall - 4 - h5, w: Math.max(1.5, wide - 0.7), h: h5, r: 1, fill: scale.t(x3) < now2 ? "ok" : "after", opacity: 0.85 });
  }
}

// src/views/overview.tsx
var HOUR2 = 36e5;
var spread = y3(1);
var asList = y3(false);
var moving = 0;
function toggleSpread() {
  cancelAnimationFrame(moving);
  const target = spread.value > 0.5 ? 0 : 1;
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    spread.value = target;
    return;
  }
  const from = spread.value;
  const begun = performance.now();
  const step = (t4) => {
    const part = Math.min(1, (t4 - begun) / 400);
    const eased = part < 0.5 ? 2 * part * part : 1 - (-2 * part + 2) ** 2 / 2;
    spread.value = from + (target - from) * eased;
    if (part < 1) moving = requestAnimationFrame(step);
  };
  moving = requestAnimationFrame(step);
}
function moveAxis(key) {
  const { hours, back } = range.value;
  if (key === "ArrowLeft") shift.value -= hours * HOUR2 / 4;
  else if (key === "ArrowRight") shift.value += hours * HOUR2 / 4;
  else if (key === "0") shift.value = 0;
  else if (key === "+" || key === "=") range.value = { hours: Math.max(3, hours / 2), back: back / 2 };
  else if (key === "-" || key === "−") range.value = { hours: Math.min(168, hours * 2), back: back * 2 };
  else return false;
  pictureAsked.refresh();
  return true;
}
var narrow = matchMedia("(max-width: 700px)");
function Overview() {
  A2(() => {
    if (narrow.matches && range.value.hours === 24) range.value = { hours: 12, back: 3 };
    const off = [watch2(pictureAsked), watch2(runningAsked), watch2(recentAsked), watch2(attentionAsked)];
    ++watchesJobs.value;
    if (!jobsComplete.value) void loadJobs();
    const timer = setInterval(() => document.visibilityState === "visible" && pictureAsked.refresh(), 3e4 + Math.random() * 5e3);
    return () => {
      off.forEach((end) => end());
      --watchesJobs.value;
      clearInterval(timer);
    };
  }, []);
  return /* @__PURE__ */ a4($, { children: [
    /* @__PURE__ */ a4(Verdict, {}),
    status.value?.jobs === 0 ? /* @__PURE__ */ a4(NoJobs, {}) : null,
    /* @__PURE__ */ a4("div", { class: "cols", children: [
      /* @__PURE__ */ a4("div", { children: [
        /* @__PURE__ */ a4(Picture, {}),
        /* @__PURE__ */ a4(Numbers, {})
      ] }),
      /* @__PURE__ */ a4("aside", { children: [
        /* @__PURE__ */ a4(NeedsYou, {}),
        /* @__PURE__ */ a4(Running, {}),
        /* @__PURE__ */ a4(Next, {})
      ] })
    ] })
  ] });
}
function Verdict() {
  const known = status.value;
  void tickSecond.value;
  if (!known) return /* @__PURE__ */ a4("h1", { class: "verdict", children: "Asking krond…" });
  const needing = inNeed.value;
  const fine = Math.max(0, known.jobs - needing);
  const next = nextUp(1)[0];
  const up = `krond up ${duration(now() - Date.parse(known.startedAt))}`;
  return /* @__PURE__ */ a4("h1", { class: "verdict", children: [
    needing > 0 ? /* @__PURE__ */ a4($, { children: [
      /* @__PURE__ */ a4("span", { class: "bad", children: needing === 1 ? "1 job needs you." : `${needing.toLocaleString("en-US")} jobs need you.` }),
      /* @__PURE__ */ a4("span", { children: [
        fine.toLocaleString("en-US"),
        " ",
        fine === 1 ? "is" : "are",
        " fine."
      ] })
    ] }) : /* @__PURE__ */ a4("span", { children: known.jobs === 0 ? "krond has no jobs yet." : known.jobs === 1 ? "Your one job is fine." : `All ${known.jobs.toLocaleString("en-US")} are fine.` }),
    /* @__PURE__ */ a4("small", { children: [
      known.running,
      " running",
      next && /* @__PURE__ */ a4($, { children: [
        " · next ",
        /* @__PURE__ */ a4("b", { children: plain(next.name) }),
        " ",
        next.t > now() ? `in ${duration(next.t - now())}` : "now"
      ] }),
      ` · ${up}`
    ] })
  ] });
}
function NoJobs() {
  return /* @__PURE__ */ a4(Panel, { title: "Where jobs come from", children: /* @__PURE__ */ a4("div", { class: "prose", children: [
    /* @__PURE__ */ a4("p", { children: "This page edits no jobs: files are the truth. Three ways in:" }),
    /* @__PURE__ */ a4("ul", { children: [
      /* @__PURE__ */ a4("li", { children: [
        "write ",
        /* @__PURE__ */ a4("code", { children: [
          status.value?.config[0] ?? "/etc/krond.d",
          "/first.kron"
        ] }),
        ", one line: ",
        /* @__PURE__ */ a4("code", { children: '0 3 * * * @win(after,1h) name=hello command="echo hello"' })
      ] }),
      /* @__PURE__ */ a4("li", { children: [
        /* @__PURE__ */ a4("code", { children: "kron import crontab" }),
        " makes such lines of a crontab"
      ] }),
      /* @__PURE__ */ a4("li", { children: [
        "then ",
        /* @__PURE__ */ a4("code", { children: "kron reload" })
      ] })
    ] })
  ] }) });
}
var HOURS = [["6", "6 h"], ["24", "24 h"], ["168", "7 d"]];
function Picture() {
  const picture = pictureAsked.value.value;
  void tickSecond.value;
  void zone.value;
  const part = spread.value;
  const away = awaySince.value;
  const at = away === null ? Math.floor(now() / 1e4) * 1e4 : away;
  const lanes = b(
    (width) => {
      if (!picture) return { shapes: [], spots: [], height: 320 };
      const labels = width < 600 ? 96 : 164;
      const scale = new Scale(picture.from, picture.until, labels, width - 16);
      return timeline(picture.lanes, scale, picture.from, at, labels, part);
    },
    [picture, at, part, zone.value]
  );
  const bars = b(
    (width) => {
      if (!picture) return { shapes: [], height: LOAD_HEIGHT };
      const scale = new Scale(picture.from, picture.until, width < 600 ? 96 : 164, width - 16);
      return { shapes: load(picture.before, picture.after, scale, picture.from, picture.until, at, part), height: LOAD_HEIGHT };
    },
    [picture, at, part, zone.value]
  );
  const peaks = picture ? [Math.max(0, ...picture.before), Math.max(0, ...picture.after)] : [0, 0];
  const step = picture && picture.after.length > 0 ? (picture.until - picture.from) / picture.after.length : 3e5;
  const span = picture ? `${day(picture.from)} ${clock(picture.from)} to ${day(picture.until)} ${clock(picture.until)}` : "";
  return /* @__PURE__ */ a4("section", { class: `panel picture ${away === null ? "" : "stale"}`, "aria-label": "Timeline", children: [
    /* @__PURE__ */ a4("div", { class: "head", children: [
      /* @__PURE__ */ a4("h2", { children: range.value.hours >= 48 ? `${range.value.hours / 24} days` : `${range.value.hours} hours` }),
      /* @__PURE__ */ a4("span", { class: "key", children: [
        /* @__PURE__ */ a4("i", { class: "k-win" }),
        "window and chosen second"
      ] }),
      /* @__PURE__ */ a4("span", { class: "key", children: [
        /* @__PURE__ */ a4("i", { class: "k-ran" }),
        "ran"
      ] }),
      /* @__PURE__ */ a4("span", { class: "key hide", children: [
        /* @__PURE__ */ a4("i", { class: "k-dot" }),
        "as written"
      ] }),
      /* @__PURE__ */ a4("span", { class: "grow" }),
      /* @__PURE__ */ a4(Segments, { label: "Range", value: String(range.value.hours), options: HOURS, onChange: (value) => {
        const hours = Number(value);
        range.value = { hours, back: hours / 4 };
        shift.value = 0;
        pictureAsked.refresh();
      } }),
      /* @__PURE__ */ a4(Segments, { label: "Order", value: order.value, options: [["due", "Due first"], ["name", "By name"]], onChange: (value) => {
        order.value = value;
        pictureAsked.refresh();
      } }),
      /* @__PURE__ */ a4("button", { type: "button", class: "quiet", "aria-pressed": asList.value, onClick: () => asList.value = !asList.value, children: "As a list" })
    ] }),
    pictureAsked.error.value && !picture && /* @__PURE__ */ a4("p", { class: "note", children: plain(pictureAsked.error.value.problem.detail) }),
    asList.value && picture ? /* @__PURE__ */ a4(List, {}) : /* @__PURE__ */ a4(Canvas, { draw: lanes, onKey: moveAxis, label: `Timeline of ${counted(picture?.lanes.length ?? 0, "lane")}, ${span}. Up and down go from mark to mark, left and right move the time.` }),
    picture && picture.more > 0 && /* @__PURE__ */ a4("p", { class: "note", children: [
      counted(picture.more, "more job"),
      " are due later or rarely: ",
      /* @__PURE__ */ a4("a", { class: "in", href: "#/jobs", children: "all jobs" })
    ] }),
    /* @__PURE__ */ a4("div", { class: "head second", children: [
      /* @__PURE__ */ a4("h2", { children: [
        "Starts in ",
        duration(step)
      ] }),
      /* @__PURE__ */ a4("button", { type: "button", class: "key", onClick: toggleSpread, "aria-pressed": part < 0.5, title: "b: as written or as spread", children: [
        /* @__PURE__ */ a4("i", { class: "k-before" }),
        "as written: peak ",
        /* @__PURE__ */ a4("b", { class: "before num", children: peaks[0] })
      ] }),
      /* @__PURE__ */ a4("span", { class: "key", children: [
        /* @__PURE__ */ a4("i", { class: "k-after" }),
        "spread: peak ",
        /* @__PURE__ */ a4("b", { class: "after num", children: peaks[1] })
      ] }),
      /* @__PURE__ */ a4("span", { class: "grow" }),
      /* @__PURE__ */ a4("span", { class: "faint hide", children: [
        "√ scale · ",
        /* @__PURE__ */ a4("kbd", { children: "b" }),
        " before/after · ",
        /* @__PURE__ */ a4("kbd", { children: "+" }),
        " ",
        /* @__PURE__ */ a4("kbd", { children: "−" }),
        " zoom · ",
        /* @__PURE__ */ a4("kbd", { children: "0" }),
        " now"
      ] })
    ] }),
    /* @__PURE__ */ a4(Canvas, { draw: bars, label: `Starts per ${duration(step)}: as written at most ${peaks[0]}, spread at most ${peaks[1]}` })
  ] });
}
function List() {
  const picture = pictureAsked.value.value;
  return /* @__PURE__ */ a4("div", { class: "scroll", children: /* @__PURE__ */ a4("table", { children: [
    /* @__PURE__ */ a4("thead", { children: /* @__PURE__ */ a4("tr", { children: [
      /* @__PURE__ */ a4("th", { children: "Job" }),
      /* @__PURE__ */ a4("th", { children: "Time" }),
      /* @__PURE__ */ a4("th", { children: "What" })
    ] }) }),
    /* @__PURE__ */ a4("tbody", { children: picture.lanes.flatMap((lane) => [
      ...(lane.runs ?? []).map(([, start, , mark2, id]) => /* @__PURE__ */ a4("tr", { children: [
        /* @__PURE__ */ a4("td", { children: /* @__PURE__ */ a4(Name, { of: lane.name }) }),
        /* @__PURE__ */ a4("td", { class: "num", children: /* @__PURE__ */ a4(Time, { at: picture.from + start * 1e3 }) }),
        /* @__PURE__ */ a4("td", { children: id ? /* @__PURE__ */ a4("a", { class: "in", href: `#/runs/${id}`, children: mark2 }) : mark2 })
      ] })),
      ...(lane.periods ?? []).map(([nominal, , , chosen]) => /* @__PURE__ */ a4("tr", { children: [
        /* @__PURE__ */ a4("td", { children: /* @__PURE__ */ a4(Name, { of: lane.name }) }),
        /* @__PURE__ */ a4("td", { class: "num", children: /* @__PURE__ */ a4(Time, { at: picture.from + (chosen ?? nominal) * 1e3 }) }),
        /* @__PURE__ */ a4("td", { children: chosen === null ? "no time" : "due" })
      ] }))
    ]) })
  ] }) });
}
var COUNTED = ["ok", "fail", "skip", "miss", "none", "over"];
var WORDS2 = ["succeeded", "failed", "skipped", "missed", "no time", "passed over"];
function Numbers() {
  const recent = recentAsked.value.value;
  if (!recent) return null;
  const counts = /* @__PURE__ */ new Map();
  for (const run of recent) counts.set(markOf(run), (counts.get(markOf(run)) ?? 0) + 1);
  const isCut = recent.length >= 1e3;
  return /* @__PURE__ */ a4("section", { class: "panel stat", "aria-label": isCut ? "The last 1,000 entries" : "Last 24 hours", children: COUNTED.map((mark2, i4) => /* @__PURE__ */ a4("div", { children: [
    /* @__PURE__ */ a4("b", { class: counts.get(mark2) && mark2 !== "ok" && mark2 !== "over" ? `c-${mark2}` : "", children: [
      (counts.get(mark2) ?? 0).toLocaleString("en-US"),
      isCut && mark2 === "ok" ? "+" : ""
    ] }),
    /* @__PURE__ */ a4("span", { children: [
      /* @__PURE__ */ a4(Glyph, { mark: mark2, label: "" }),
      " ",
      WORDS2[i4]
    ] })
  ] })) });
}
var MATTER_MARK = { failing: "fail", missed: "miss", skipping: "skip", "too long": "run", "may have no time": "none", "long paused": "pause" };
function NeedsYou() {
  const items = attention.value;
  return /* @__PURE__ */ a4(Panel, { title: "Needs you", more: /* @__PURE__ */ a4("span", { class: "faint num", children: items.length || "" }), children: items.length === 0 ? /* @__PURE__ */ a4("p", { class: "note", children: "Nothing does." }) : /* @__PURE__ */ a4("ul", { class: "list", children: [
    items.slice(0, 8).map((item) => /* @__PURE__ */ a4(Need, { item })),
    items.length > 8 && /* @__PURE__ */ a4("li", { children: [
      /* @__PURE__ */ a4("span", {}),
      /* @__PURE__ */ a4("a", { class: "in", href: "#/jobs?q=is%3Afailing", children: [
        items.length - 8,
        " more"
      ] })
    ] })
  ] }) });
}
function Need({ item }) {
  const isJob = jobs.value.has(item.name);
  const parts = [item.what, item.reason].filter(Boolean).join(": ");
  const sentence = parts.charAt(0).toUpperCase() + parts.slice(1);
  return /* @__PURE__ */ a4("li", { children: [
    /* @__PURE__ */ a4(Glyph, { mark: MATTER_MARK[item.matter] ?? "fail", label: item.matter }),
    /* @__PURE__ */ a4("b", { class: "cut", children: isJob ? /* @__PURE__ */ a4(Name, { of: item.name }) : plain(item.name || "krond") }),
    /* @__PURE__ */ a4("span", { class: "faint num", children: item.since ? /* @__PURE__ */ a4(Time, { at: item.since, ago: true }) : "" }),
    /* @__PURE__ */ a4("span", { class: "d", children: [
      plain(sentence),
      /[.!]$/.test(sentence) ? " " : ". ",
      item.runId ? /* @__PURE__ */ a4("a", { href: `#/runs/${item.runId}`, children: "Output" }) : plain(item.cure)
    ] })
  ] });
}
function Running() {
  const runs = runningAsked.value.value ?? [];
  void tickSecond.value;
  return /* @__PURE__ */ a4(Panel, { title: "Running", more: /* @__PURE__ */ a4("span", { class: "faint num", children: runs.length }), class: "gap", children: [
    runs.length === 0 && /* @__PURE__ */ a4("p", { class: "note", children: "Nothing." }),
    /* @__PURE__ */ a4("ul", { class: "list compact", children: runs.slice(0, 8).map((run) => /* @__PURE__ */ a4("li", { children: [
      /* @__PURE__ */ a4(Glyph, { mark: "run", label: "" }),
      /* @__PURE__ */ a4("a", { class: "cut", href: `#/runs/${run.runId}`, children: /* @__PURE__ */ a4("bdi", { children: plain(run.job) }) }),
      /* @__PURE__ */ a4("span", { class: "num", children: run.startedAt ? counter(now() - Date.parse(run.startedAt)) : "" })
    ] }, run.runId)) })
  ] });
}
function nextUp(count) {
  const found = [];
  for (const job of jobs.value.values()) {
    if (!job.next) continue;
    const t4 = Date.parse(job.next.startsAt);
    if (found.length < count || t4 < found[found.length - 1].t) {
      found.push({ name: job.identity, t: t4 });
      found.sort((a5, b4) => a5.t - b4.t);
      found.length = Math.min(found.length, count);
    }
  }
  return found;
}
function Next() {
  void tickSecond.value;
  return /* @__PURE__ */ a4(Panel, { title: "Next", more: /* @__PURE__ */ a4("span", { class: "faint", children: zone.value === "utc" ? "UTC" : `${localName()} time` }), class: "gap", children: /* @__PURE__ */ a4("ul", { class: "list compact", children: nextUp(8).map(({ name, t: t4 }) => /* @__PURE__ */ a4("li", { children: [
    /* @__PURE__ */ a4(Glyph, { mark: "next" }),
    /* @__PURE__ */ a4("span", { class: "cut", children: /* @__PURE__ */ a4(Name, { of: name }) }),
    /* @__PURE__ */ a4("span", { class: "num", children: [
      /* @__PURE__ */ a4("span", { class: "faint", children: t4 > now() ? duration(t4 - now()) : "now" }),
      " ",
      moment(t4)
    ] })
  ] }, name)) }) });
}

// src/views/run.tsx
var SHOWN = 1e3;
function RunView({ id }) {
  const [run] = d2(() => new Asked(() => get(`runs/${encodeURIComponent(id)}`), 500));
  A2(() => watch2(run), []);
  void tickSecond.value;
  const known = run.value.value;
  if (!known) {
    const error = run.error.value;
    if (!error) return /* @__PURE__ */ a4("p", { class: "note", children: "Asking krond…" });
    return /* @__PURE__ */ a4(Panel, { title: error.status === 404 ? "There is no such run" : "krond does not say", children: /* @__PURE__ */ a4("p", { class: "note", children: [
      plain(error.problem.detail),
      ". Runs are forgotten after a while; ",
      /* @__PURE__ */ a4("a", { class: "in", href: "#/runs", children: "these are known" }),
      "."
    ] }) });
  }
  const mark2 = markOf(known);
  const started = known.startedAt ? Date.parse(known.startedAt) : null;
  const isActive = mark2 === "run";
  return /* @__PURE__ */ a4($, { children: [
    /* @__PURE__ */ a4("div", { class: "title", children: [
      /* @__PURE__ */ a4("div", { class: "grow", children: [
        /* @__PURE__ */ a4("div", { class: "faint crumb", children: [
          /* @__PURE__ */ a4("a", { href: "#/runs", children: "Runs" }),
          " / ",
          /* @__PURE__ */ a4(Name, { of: known.job }),
          " /"
        ] }),
        /* @__PURE__ */ a4("h1", { class: "name-line", children: [
          /* @__PURE__ */ a4(Glyph, { mark: mark2 }),
          " ",
          /* @__PURE__ */ a4("bdi", { children: plain(known.job) }),
          " ",
          /* @__PURE__ */ a4("span", { class: "soft num", children: started === null ? "" : isActive ? counter(now() - started) : known.endedAt ? `took ${duration(Date.parse(known.endedAt) - started)}` : "" })
        ] }),
        /* @__PURE__ */ a4("p", { class: `words c-${mark2}`, children: plain(endOf(known)) })
      ] }),
      isActive && /* @__PURE__ */ a4("div", { class: "acts", children: [
        /* @__PURE__ */ a4("button", { type: "button", onClick: () => terminate(known), children: "End…" }),
        /* @__PURE__ */ a4("button", { type: "button", class: "danger", onClick: () => kill(known), children: "Kill…" })
      ] })
    ] }),
    /* @__PURE__ */ a4("div", { class: "cols", children: [
      /* @__PURE__ */ a4("div", { children: known.runId ? /* @__PURE__ */ a4(OutputPanel, { id: known.runId, bytes: known.outputBytes ?? 0, ended: !isActive }) : /* @__PURE__ */ a4(Panel, { title: "Output", children: /* @__PURE__ */ a4("p", { class: "note", children: "Nothing ran." }) }) }),
      /* @__PURE__ */ a4("aside", { children: /* @__PURE__ */ a4(Panel, { title: "When", children: /* @__PURE__ */ a4("dl", { class: "kv", children: [
        known.periodId && /* @__PURE__ */ a4($, { children: [
          /* @__PURE__ */ a4("dt", { children: "Period" }),
          /* @__PURE__ */ a4("dd", { class: "num", children: /* @__PURE__ */ a4(Time, { at: known.periodId }) })
        ] }),
        known.chosenTime && /* @__PURE__ */ a4($, { children: [
          /* @__PURE__ */ a4("dt", { children: "Chosen" }),
          /* @__PURE__ */ a4("dd", { class: "num", children: /* @__PURE__ */ a4(Time, { at: known.chosenTime }) })
        ] }),
        known.startedAt && /* @__PURE__ */ a4($, { children: [
          /* @__PURE__ */ a4("dt", { children: "Started" }),
          /* @__PURE__ */ a4("dd", { class: "num", children: /* @__PURE__ */ a4(Time, { at: known.startedAt }) })
        ] }),
        known.endedAt && /* @__PURE__ */ a4($, { children: [
          /* @__PURE__ */ a4("dt", { children: "Ended" }),
          /* @__PURE__ */ a4("dd", { class: "num", children: /* @__PURE__ */ a4(Time, { at: known.endedAt }) })
        ] }),
        /* @__PURE__ */ a4("dt", { children: "Because of" }),
        /* @__PURE__ */ a4("dd", { children: known.trigger === "schedule" ? "its schedule" : known.trigger === "manual" ? "somebody asked" : known.trigger }),
        known.host && /* @__PURE__ */ a4($, { children: [
          /* @__PURE__ */ a4("dt", { children: "Host" }),
          /* @__PURE__ */ a4("dd", { children: plain(known.host) })
        ] }),
        known.pid && /* @__PURE__ */ a4($, { children: [
          /* @__PURE__ */ a4("dt", { children: "PID" }),
          /* @__PURE__ */ a4("dd", { class: "num", children: known.pid })
        ] }),
        /* @__PURE__ */ a4("dt", { children: "Run" }),
        /* @__PURE__ */ a4("dd", { class: "mono wrap", children: known.runId })
      ] }) }) })
    ] })
  ] });
}
function OutputPanel({ id, bytes: size, ended }) {
  const [output, setOutput] = d2(null);
  const [find, setFind] = d2("");
  const [wraps, setWraps] = d2(true);
  const [sticks, setSticks] = d2(true);
  const box = T2(null);
  A2(() => {
    const mine = new Output(id);
    setOutput(mine);
    return () => mine.close();
  }, [id]);
  const all = output?.lines.value ?? [];
  const text = find.toLowerCase();
  const found = text ? all.filter((line) => line.pieces.map((piece) => piece.text).join("").toLowerCase().includes(text)) : all;
  const shown = found.slice(-SHOWN);
  const state = output?.state.value ?? "asking";
  const tail = output?.open.value ?? [];
  A2(() => {
    if (sticks && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [all.length, tail, sticks, wraps]);
  const download = async () => {
    const response = await open(`runs/${id}/output`);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await response.blob());
    link.download = `${id}.txt`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 6e4);
  };
  const skipped = output?.skipped.value ?? 0;
  return /* @__PURE__ */ a4(
    Panel,
    {
      title: "Output",
      more: /* @__PURE__ */ a4($, { children: [
        /* @__PURE__ */ a4("span", { class: "soft num", children: state === "following" && !ended ? "live" : state === "away" ? "away" : size ? bytes(size) : "" }),
        /* @__PURE__ */ a4("input", { type: "search", placeholder: "Find", "aria-label": "Find in the output", value: find, onInput: (event) => setFind(event.currentTarget.value) }),
        /* @__PURE__ */ a4("button", { type: "button", class: "quiet hide", "aria-pressed": wraps, onClick: () => setWraps(!wraps), children: "Wrap" }),
        /* @__PURE__ */ a4("button", { type: "button", class: "quiet", onClick: () => void download().catch((error) => say(String(error), true)), children: "Save" })
      ] }),
      children: [
        /* @__PURE__ */ a4("div", { class: `output ${wraps ? "wraps" : ""}`, ref: box, tabIndex: 0, role: "log", "aria-label": "Output", onScroll: (event) => {
          const view = event.currentTarget;
          setSticks(view.scrollHeight - view.scrollTop - view.clientHeight < 24);
        }, children: [
          skipped > 0 && /* @__PURE__ */ a4("p", { class: "note", children: [
            bytes(skipped),
            " before this are not shown; save it to have all of it."
          ] }),
          found.length > SHOWN && /* @__PURE__ */ a4("p", { class: "note", children: [
            (found.length - SHOWN).toLocaleString("en-US"),
            " lines before these."
          ] }),
          shown.map((line) => /* @__PURE__ */ a4("div", { class: "line", children: [
            line.pieces.map((piece) => piece.style ? /* @__PURE__ */ a4("span", { class: piece.style, children: piece.text }) : piece.text),
            line.cut > 0 && /* @__PURE__ */ a4("i", { class: "faint", children: [
              " … and ",
              line.cut.toLocaleString("en-US"),
              " characters"
            ] })
          ] }, line.number)),
          tail.length > 0 && !text && /* @__PURE__ */ a4("div", { class: "line", children: tail.map((piece) => piece.style ? /* @__PURE__ */ a4("span", { class: piece.style, children: piece.text }) : piece.text) }),
          all.length === 0 && tail.length === 0 && /* @__PURE__ */ a4("p", { class: "note", children: state === "asking" ? "Asking krond…" : output?.problem.value ? plain(output.problem.value) : ended ? "It printed nothing." : "Nothing yet." })
        ] }),
        !sticks && !ended && /* @__PURE__ */ a4("button", { type: "button", class: "jump", onClick: () => setSticks(true), children: "Follow" })
      ]
    }
  );
}

// src/views/tasks.tsx
var older2 = y3([]);
function path2(after = "") {
  const show = route.value.query.get("show") ?? "";
  const state = show ? `&state=${show}` : "";
  return `tasks?limit=100${state}${after ? `&after=${encodeURIComponent(after)}` : ""}`;
}
var asked2 = new Asked(() => get(path2()), 2e3);
var isFailed = (task) => task.outcome === "FAILED";
var word = (task) => (task.outcome ?? task.state).toLowerCase();
var mark = (task) => task.outcome === "SUCCEEDED" ? "ok" : isFailed(task) ? "fail" : task.state === "RUNNING" ? "run" : "next";
function change(task, verb) {
  if (!may("operate")) return;
  question.value = {
    title: verb === "cancel" ? `Cancel the task ${plain(task.taskId)}?` : `Try the task ${plain(task.taskId)} again?`,
    text: verb === "cancel" ? "It is not worked on any more, and counts as failed." : "It is given more attempts, and waits for a worker.",
    yes: verb === "cancel" ? "Cancel the task" : "Try again",
    danger: verb === "cancel",
    act: async () => {
      await post(`tasks/${encodeURIComponent(task.taskId)}/${verb}`, verb === "retry" ? {} : void 0);
      asked2.refresh();
      return verb === "cancel" ? "It was cancelled." : "It waits for a worker.";
    }
  };
}
function Tasks() {
  const show = route.value.query.get("show") ?? "";
  A2(() => {
    const off = watch2(asked2);
    const timer = setInterval(() => document.visibilityState === "visible" && asked2.refresh(), 5e3);
    return () => {
      off();
      clearInterval(timer);
    };
  }, []);
  A2(() => {
    older2.value = [];
    void asked2.now();
  }, [show]);
  const page = asked2.value.value;
  const rows = [...page?.tasks ?? [], ...older2.value];
  const counts = status.value?.tasks;
  const last2 = rows[rows.length - 1];
  return /* @__PURE__ */ a4($, { children: [
    /* @__PURE__ */ a4("div", { class: "bar", children: [
      /* @__PURE__ */ a4("h1", { children: "Tasks" }),
      counts && /* @__PURE__ */ a4("span", { class: "soft num", children: [
        counts.pending,
        " pending, ",
        counts.running,
        " running"
      ] }),
      /* @__PURE__ */ a4("span", { class: "grow" }),
      /* @__PURE__ */ a4(Segments, { label: "Which", value: show, options: [["", "All"], ["pending", "Pending"], ["running", "Running"], ["failed", "Failed"]], onChange: (value) => setQuery("show", value) })
    ] }),
    status.value?.tasksProblem && /* @__PURE__ */ a4("p", { class: "alarm", children: plain(status.value.tasksProblem) }),
    /* @__PURE__ */ a4("section", { class: "panel", "aria-label": "Tasks", children: [
      /* @__PURE__ */ a4("div", { class: "scroll", children: /* @__PURE__ */ a4("table", { children: [
        /* @__PURE__ */ a4("thead", { children: /* @__PURE__ */ a4("tr", { children: [
          /* @__PURE__ */ a4("th", { children: /* @__PURE__ */ a4("span", { class: "sr", children: "State" }) }),
          /* @__PURE__ */ a4("th", { children: "Task" }),
          /* @__PURE__ */ a4("th", { children: "Type" }),
          /* @__PURE__ */ a4("th", { children: "State" }),
          /* @__PURE__ */ a4("th", { class: "hide", children: "Attempt" }),
          /* @__PURE__ */ a4("th", { children: "Changed" }),
          /* @__PURE__ */ a4("th", { children: /* @__PURE__ */ a4("span", { class: "sr", children: "Actions" }) })
        ] }) }),
        /* @__PURE__ */ a4("tbody", { children: rows.map((task) => /* @__PURE__ */ a4("tr", { children: [
          /* @__PURE__ */ a4("td", { class: "g", children: /* @__PURE__ */ a4(Glyph, { mark: mark(task), label: "" }) }),
          /* @__PURE__ */ a4("td", { class: "cut mono", children: /* @__PURE__ */ a4("a", { class: "in", href: `#/tasks/${encodeURIComponent(task.taskId)}`, children: plain(task.taskId) }) }),
          /* @__PURE__ */ a4("td", { class: "cut", children: plain(task.payload.type) }),
          /* @__PURE__ */ a4("td", { class: isFailed(task) ? "c-fail" : "", children: word(task) }),
          /* @__PURE__ */ a4("td", { class: "num hide", children: [
            task.attempt,
            " of ",
            task.maxAttempts
          ] }),
          /* @__PURE__ */ a4("td", { class: "num", children: /* @__PURE__ */ a4(Time, { at: task.updatedAt }) }),
          /* @__PURE__ */ a4("td", { children: task.state !== "COMPLETED" ? /* @__PURE__ */ a4("button", { type: "button", class: "quiet", onClick: () => change(task, "cancel"), children: "Cancel…" }) : isFailed(task) ? /* @__PURE__ */ a4("button", { type: "button", class: "quiet", onClick: () => change(task, "retry"), children: "Again…" }) : null })
        ] }, task.taskId)) })
      ] }) }),
      asked2.error.value && /* @__PURE__ */ a4("p", { class: "note", children: plain(asked2.error.value.problem.detail) }),
      page && rows.length === 0 && /* @__PURE__ */ a4("p", { class: "note", children: [
        "None. ",
        /* @__PURE__ */ a4("code", { children: "kron task submit" }),
        " makes one, a job with ",
        /* @__PURE__ */ a4("code", { children: "task=" }),
        " does it on schedule."
      ] }),
      page?.next && last2 && /* @__PURE__ */ a4("p", { class: "note", children: /* @__PURE__ */ a4("button", { type: "button", onClick: () => void get(path2(older2.value.length > 0 ? last2.taskId : page.next)).then((more) => older2.value = [...older2.value, ...more.tasks]), children: "More" }) })
    ] })
  ] });
}
function TaskView({ id }) {
  const [task] = d2(() => new Asked(() => get(`tasks/${encodeURIComponent(id)}`), 1e3));
  A2(() => watch2(task), []);
  const known = task.value.value;
  if (!known) return /* @__PURE__ */ a4(Panel, { title: "Task", children: /* @__PURE__ */ a4("p", { class: "note", children: task.error.value ? plain(task.error.value.problem.detail) : "Asking krond…" }) });
  const executions = Array.isArray(known.executions) ? known.executions : [];
  return /* @__PURE__ */ a4($, { children: [
    /* @__PURE__ */ a4("div", { class: "title", children: [
      /* @__PURE__ */ a4("div", { class: "grow", children: [
        /* @__PURE__ */ a4("div", { class: "faint crumb", children: [
          /* @__PURE__ */ a4("a", { href: "#/tasks", children: "Tasks" }),
          " /"
        ] }),
        /* @__PURE__ */ a4("h1", { class: "name-line", children: [
          /* @__PURE__ */ a4(Glyph, { mark: mark(known), label: "" }),
          " ",
          /* @__PURE__ */ a4("bdi", { children: plain(id) }),
          " ",
          /* @__PURE__ */ a4("span", { class: "pill", children: word(known) })
        ] })
      ] }),
      /* @__PURE__ */ a4("div", { class: "acts", children: [
        known.state !== "COMPLETED" && /* @__PURE__ */ a4("button", { type: "button", onClick: () => change(known, "cancel"), children: "Cancel…" }),
        isFailed(known) && /* @__PURE__ */ a4("button", { type: "button", class: "main", onClick: () => change(known, "retry"), children: "Try again…" })
      ] })
    ] }),
    /* @__PURE__ */ a4("div", { class: "cols", children: [
      /* @__PURE__ */ a4("div", { children: /* @__PURE__ */ a4(Panel, { title: "Attempts", children: [
        /* @__PURE__ */ a4("div", { class: "scroll", children: /* @__PURE__ */ a4("table", { children: /* @__PURE__ */ a4("tbody", { children: executions.map((execution) => /* @__PURE__ */ a4("tr", { children: ["execId", "status", "workerId", "startedAt", "endedAt", "reason", "error"].map((key) => execution[key] === void 0 ? null : /* @__PURE__ */ a4("td", { class: "mono", children: plain(String(execution[key])) })) })) }) }) }),
        executions.length === 0 && /* @__PURE__ */ a4("p", { class: "note", children: "Not yet." })
      ] }) }),
      /* @__PURE__ */ a4("aside", { children: /* @__PURE__ */ a4(Panel, { title: "Payload", children: /* @__PURE__ */ a4("pre", { children: plain(JSON.stringify(known.payload, null, 2)) }) }) })
    ] })
  ] });
}

// src/views/try.tsx
var FIRST = '0 3 * * * @tz(Europe/Paris) @win(after,1h) name=hello command="echo hello"';
function Try() {
  const [text, setText] = d2(FIRST);
  const [answer, setAnswer] = d2(null);
  const [problem, setProblem] = d2("");
  const ask = async () => {
    try {
      setAnswer(await post("try", { text }));
      setProblem("");
    } catch (error) {
      setAnswer(null);
      setProblem(error instanceof ApiError ? error.status === 404 ? "This krond cannot try lines yet; `kron lint` and `kron next` do, on a file." : error.problem.detail : String(error));
    }
  };
  return /* @__PURE__ */ a4($, { children: [
    /* @__PURE__ */ a4("div", { class: "bar", children: [
      /* @__PURE__ */ a4("h1", { children: "Try" }),
      /* @__PURE__ */ a4("span", { class: "soft", children: "Nothing here is saved: files are the truth." })
    ] }),
    /* @__PURE__ */ a4(Panel, { title: "Lines of a job file", more: /* @__PURE__ */ a4("button", { type: "button", class: "main", onClick: () => void ask(), children: "Try" }), children: [
      /* @__PURE__ */ a4("textarea", { class: "mono", rows: 6, spellcheck: false, "aria-label": "Lines of a job file", value: text, onInput: (event) => setText(event.currentTarget.value) }),
      problem && /* @__PURE__ */ a4("p", { class: "alarm", role: "status", children: plain(problem) })
    ] }),
    answer && /* @__PURE__ */ a4(Panel, { title: "What krond makes of it", class: "gap", children: [
      /* @__PURE__ */ a4("ul", { class: "list", children: (answer.problems ?? []).map((found) => /* @__PURE__ */ a4("li", { children: [
        /* @__PURE__ */ a4("span", {}),
        /* @__PURE__ */ a4("span", { class: found.severity === "error" ? "c-fail" : "c-skip", children: [
          found.line ? `${found.line}:${found.column ?? 1} ` : "",
          plain(found.message)
        ] })
      ] })) }),
      (answer.jobs ?? []).map((job) => /* @__PURE__ */ a4("div", { class: "prose", children: [
        /* @__PURE__ */ a4("b", { children: plain(job.identity) }),
        " ",
        /* @__PURE__ */ a4("span", { class: "soft", children: plain(job.words ?? "") }),
        /* @__PURE__ */ a4("ul", { children: (job.next ?? []).slice(0, 20).map((period) => /* @__PURE__ */ a4("li", { class: "num", children: /* @__PURE__ */ a4(Time, { at: period.chosenTime ?? period.nominalTime }) })) })
      ] }))
    ] })
  ] });
}

// src/main.tsx
var VIEWS = [["", "Overview"], ["jobs", "Jobs"], ["runs", "Runs"], ["tasks", "Tasks"], ["try", "Try"]];
function Header() {
  const known = status.value;
  const counts = { jobs: known?.jobs, tasks: known?.tasks ? known.tasks.pending + known.tasks.running : void 0 };
  return /* @__PURE__ */ a4("header", { class: "top", children: [
    /* @__PURE__ */ a4("a", { class: "skip", href: "#main", onClick: (event) => {
      event.preventDefault();
      document.getElementById("main")?.focus();
    }, children: "To the content" }),
    /* @__PURE__ */ a4("a", { class: "logo", href: "#/", children: [
      /* @__PURE__ */ a4("svg", { viewBox: "0 0 16 16", "aria-hidden": "true", children: [
        /* @__PURE__ */ a4("rect", { y: "7", width: "16", height: "2.5", rx: "1.2", fill: "var(--after)", opacity: ".45" }),
        /* @__PURE__ */ a4("rect", { x: "9", y: "2.5", width: "3", height: "11", rx: "1.5", fill: "var(--after)" })
      ] }),
      "Kron"
    ] }),
    /* @__PURE__ */ a4("span", { class: "host", children: session.value?.host }),
    /* @__PURE__ */ a4("nav", { "aria-label": "Views", children: VIEWS.map(([view, name]) => /* @__PURE__ */ a4("a", { href: `#/${view}`, "aria-current": route.value.view === view ? "page" : void 0, children: [
      name,
      counts[view] ? /* @__PURE__ */ a4("span", { class: "count", children: counts[view].toLocaleString("en-US") }) : null
    ] })) }),
    /* @__PURE__ */ a4("span", { class: "grow" }),
    /* @__PURE__ */ a4("button", { type: "button", class: "find", onClick: () => palette.value = true, children: [
      /* @__PURE__ */ a4("span", { children: "Find a job, run or action" }),
      /* @__PURE__ */ a4("kbd", { children: "Ctrl K" })
    ] }),
    /* @__PURE__ */ a4("span", { class: "seg hide", role: "group", "aria-label": "Times", children: [
      /* @__PURE__ */ a4("button", { type: "button", "aria-pressed": zone.value === "local", onClick: () => chooseZone("local"), children: localName() }),
      /* @__PURE__ */ a4("button", { type: "button", "aria-pressed": zone.value === "utc", onClick: () => chooseZone("utc"), children: "UTC" })
    ] }),
    /* @__PURE__ */ a4("button", { type: "button", class: "quiet hide", onClick: nextTheme, "aria-label": `Colours: ${theme.value}`, title: `Colours: ${theme.value}`, children: "◐" }),
    /* @__PURE__ */ a4("button", { type: "button", class: "quiet hide", onClick: () => help.value = true, "aria-label": "Keys", children: "?" }),
    /* @__PURE__ */ a4(Live, {})
  ] });
}
function Live() {
  void tickSecond.value;
  const away = awaySince.value;
  return away === null ? /* @__PURE__ */ a4("span", { class: "live num", title: "krond's time", children: [
    /* @__PURE__ */ a4("i", {}),
    status.value ? seconds(now()) : "…"
  ] }) : /* @__PURE__ */ a4("span", { class: "live away num", children: [
    /* @__PURE__ */ a4("i", {}),
    "away"
  ] });
}
var IN_FORCE = { none: "no job of it runs", earlier: "its jobs of before stay in force", rest: "its other jobs run" };
function Alarms() {
  const known = status.value;
  const files = known?.jobFiles;
  return /* @__PURE__ */ a4("div", { role: "alert", children: [
    awaySince.value !== null && /* @__PURE__ */ a4("p", { class: "alarm", children: [
      "krond is away since ",
      seconds(awaySince.value),
      "; trying. What you see is from before."
    ] }),
    known && !known.ready && awaySince.value === null && /* @__PURE__ */ a4("p", { class: "alarm", children: [
      "krond is not ready",
      known.stopping ? ": it is stopping" : "",
      ". Reading works, changing may not."
    ] }),
    files?.reloadError && /* @__PURE__ */ a4("p", { class: "alarm", children: plain(files.reloadError) }),
    (files?.refused ?? []).slice(0, 3).map((file) => /* @__PURE__ */ a4("p", { class: "alarm", children: [
      plain(`${file.file}${file.line ? `:${file.line}:${file.column}` : ""}: ${file.reason}`),
      "; ",
      IN_FORCE[file.inForce],
      ".",
      " ",
      /* @__PURE__ */ a4("button", { type: "button", class: "quiet", onClick: reload, children: "Reload…" })
    ] }))
  ] });
}
function Login() {
  const [code, setCode] = d2("");
  const [wrong, setWrong] = d2(false);
  return /* @__PURE__ */ a4("main", { id: "main", class: "login", tabIndex: -1, children: [
    /* @__PURE__ */ a4("h1", { children: "Kron" }),
    /* @__PURE__ */ a4("p", { children: [
      "This page needs a session. Take the address that ",
      /* @__PURE__ */ a4("code", { children: "kron web" }),
      " prints: it holds a code that is good once, for a minute. Press Enter where it runs for a new one."
    ] }),
    /* @__PURE__ */ a4("form", { onSubmit: (event) => {
      event.preventDefault();
      void trade(code.trim().replace(/^.*#code=/, "")).then((ok) => setWrong(!ok));
    }, children: [
      /* @__PURE__ */ a4("input", { "aria-label": "Code, or the whole address", placeholder: "Code, or the whole address", autocomplete: "off", value: code, onInput: (event) => setCode(event.currentTarget.value) }),
      /* @__PURE__ */ a4("button", { type: "submit", class: "main", children: "Enter" })
    ] }),
    wrong && /* @__PURE__ */ a4("p", { class: "c-fail", role: "alert", children: "That code is wrong, used, or older than a minute." })
  ] });
}
function View() {
  const { view, id } = route.value;
  if (view === "jobs") return id ? /* @__PURE__ */ a4(JobView, { name: id }, id) : /* @__PURE__ */ a4(Jobs, {});
  if (view === "runs") return id ? /* @__PURE__ */ a4(RunView, { id }, id) : /* @__PURE__ */ a4(Runs, {});
  if (view === "tasks") return id ? /* @__PURE__ */ a4(TaskView, { id }, id) : /* @__PURE__ */ a4(Tasks, {});
  if (view === "try") return /* @__PURE__ */ a4(Try, {});
  return /* @__PURE__ */ a4(Overview, {});
}
function App() {
  const { view, id } = route.value;
  A2(() => {
    const name = VIEWS.find(([key]) => key === view)?.[1] ?? "Overview";
    document.title = `${id ? plain(id) : name} · Kron`;
    document.getElementById("main")?.scrollTo(0, 0);
  }, [view, id]);
  if (login.value === "out") return /* @__PURE__ */ a4(Login, {});
  if (login.value === "unknown") return /* @__PURE__ */ a4("p", { class: "note", role: "status", children: awaySince.value === null ? "" : "kron web does not answer; trying." });
  return /* @__PURE__ */ a4($, { children: [
    /* @__PURE__ */ a4(Header, {}),
    /* @__PURE__ */ a4("main", { id: "main", tabIndex: -1, children: [
      /* @__PURE__ */ a4(Alarms, {}),
      /* @__PURE__ */ a4(View, {})
    ] }),
    /* @__PURE__ */ a4(Ask, {}),
    /* @__PURE__ */ a4(Palette, {}),
    /* @__PURE__ */ a4(Help, {}),
    /* @__PURE__ */ a4(Toasts, {})
  ] });
}
var goes = 0;
addEventListener("keydown", (event) => {
  if ((event.metaKey || event.ctrlKey) && event.key === "k" && login.value === "in") {
    event.preventDefault();
    palette.value = true;
    return;
  }
  if (isTyping(event) || document.querySelector("dialog[open]") || login.value !== "in") return;
  const target = performance.now() - goes < 1500 ? { o: "/", j: "/jobs", r: "/runs", t: "/tasks" }[event.key] : void 0;
  goes = event.key === "g" ? performance.now() : 0;
  if (target) go(target);
  else if (event.key === "/") document.getElementById("filter") ? document.getElementById("filter").focus() : palette.value = true;
  else if (event.key === "?") help.value = true;
  else if (event.key === "z") chooseZone(zone.value === "utc" ? "local" : "utc");
  else if (event.key === "b") toggleSpread();
  else return;
  event.preventDefault();
  if (target) event.stopImmediatePropagation();
});
addEventListener("hashchange", () => {
  if (location.hash.startsWith("#code=")) void resume();
});
startData();
startLive();
void resume();
Q(/* @__PURE__ */ a4(App, {}), document.getElementById("app"));
