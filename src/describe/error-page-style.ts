/** Every pair of colours below has a contrast of at least 4.5 : 1 in both schemes. */
export const style = `
:root{--paper:#f6f5f1;--card:#fff;--ink:#1d2126;--soft:#575e67;--line:#dcd9d0;--link:#0b5a73;--accent:#8a4b00;--wash:#fdf1dd;--code:#f0eee8;--key:#0b5a73;--text:#3d6b21;--literal:#8a3b6d}
.service{--accent:#a3212b;--wash:#fde9e8}
@media (prefers-color-scheme:dark){
:root{--paper:#14171a;--card:#1c2024;--ink:#e8e6e1;--soft:#a5acb5;--line:#343a41;--link:#7cc7e0;--accent:#f0b35c;--wash:#2f2614;--code:#262b30;--key:#7cc7e0;--text:#a9d18a;--literal:#e6a3cc}
.service{--accent:#ff9a94;--wash:#37191a}
}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0 auto;padding:clamp(1rem,4vw,3rem) clamp(1rem,4vw,2rem);max-width:46rem;background:var(--paper);color:var(--ink);font:1.0625rem/1.6 ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
a{color:var(--link)}
a:focus-visible{outline:3px solid var(--link);outline-offset:3px;border-radius:4px}
nav{margin-bottom:1rem}
nav a{display:inline-block;padding:.5rem 0}
nav a::before{content:"\\2190\\00a0"}
header{padding-left:1.125rem;border-left:4px solid var(--accent)}
.status{margin:0;color:var(--soft)}
.status b{color:var(--accent);font-variant-numeric:tabular-nums}
h1{margin:.125rem 0 .5rem;font-size:clamp(1.6rem,6vw,2.35rem);line-height:1.2;letter-spacing:-.015em;overflow-wrap:anywhere}
h1 code{padding:0;background:none;font-size:.92em}
.lead{margin:0;font-size:1.1875rem;color:var(--ink)}
section{margin-top:2rem}
h2{margin:0 0 .5rem;font-size:1.0625rem;line-height:1.4}
section p{margin:0;max-width:65ch}
.remedy{padding:1.125rem 1.25rem;border-radius:10px;background:var(--wash)}
.remedy h2{color:var(--accent)}
code,pre{font-family:ui-monospace,"SF Mono",SFMono-Regular,Menlo,Consolas,monospace}
code{padding:.1em .3em;border-radius:4px;background:var(--code);font-size:.9em;overflow-wrap:anywhere}
pre{margin:0;padding:1rem 1.25rem;white-space:pre-wrap;overflow-wrap:anywhere;border:1px solid var(--line);border-radius:10px;background:var(--card);font-size:.875rem;line-height:1.55}
pre code{padding:0;background:none;font-size:inherit}
i{font-style:normal}
.key{color:var(--key)}.text{color:var(--text)}.literal{color:var(--literal)}
.list{margin:0;padding:0;list-style:none;border:1px solid var(--line);border-radius:10px;background:var(--card);overflow:hidden}
.list li+li{border-top:1px solid var(--line)}
.list a{display:grid;grid-template-columns:3rem 1fr;gap:0 .5rem;padding:.8rem 1.1rem;color:inherit;text-decoration:none}
.list a:hover{background:var(--code)}
.list a:focus-visible{outline-offset:-3px}
.list b{color:var(--accent);font-variant-numeric:tabular-nums}
.list code{justify-self:start;padding:0;background:none;color:var(--link);font-weight:600}
.list span{grid-column:2;color:var(--soft);font-size:.9375rem;line-height:1.45}
footer{margin-top:2.5rem;padding-top:1rem;border-top:1px solid var(--line);color:var(--soft);font-size:.9375rem}
footer p{margin:0}
@media print{body{background:none}.remedy,pre,.list{border:1px solid #999}}
`;
