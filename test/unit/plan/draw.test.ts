import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dagGraph } from '../../../shared/plan/dag-graph.ts'
import { drawDot, drawMermaid, drawSvg, layeredLayout } from '../../../shared/plan/draw.ts'
import { GraphSchema } from '../../../shared/plan/graph-schema.ts'
import { randomDags } from '../../machines/random-dags.ts'
import { ALL, CHILD, dagOf, QUESTION } from './documents.ts'

const graphOf = (text: string) => dagGraph(dagOf(text), () => 1)

/** A document whose every free text is `name`; ids cannot be hostile, but may be words of a language. */
function named(name: string) {
  const block = (id: string, more = {}) => ({ id, name, mode: 'approval', approval: { prompt: 'Go?' }, ...more })
  const gate = { name, check: { type: 'not_empty', port: 'feedback' }, on_fail: 'route' }
  const back = { when_gate: name, route_to: 'end', max_bounces: 1 }
  const last = { post_gates: [gate], on_gate_fail: [back], outputs: { feedback: 'string' } }
  const edges = [
    { from: 'end', to: 'subgraph' },
    { from: 'subgraph', to: 'style' },
  ]
  return JSON.stringify({ name, blocks: [block('end'), block('subgraph'), block('style', last)], edges })
}

const HOSTILE = [
  '"];\n  n9["pwned"]; click n0 "javascript:alert(1)"',
  '</text><script>alert(1)</script>',
  '"] ; digraph { x',
  'a\\" -> b',
  'end',
  '%%{init: {"theme":"x"}}%%',
  '#quot; & &lt; <br/> \\N \\G',
  "'onload='alert(1)",
  '\u202egnp.exe\u0007\u009b31m',
  '—“ünïcödé” 漢字 🚀'.repeat(3),
]

describe('dagGraph()', () => {
  test('says what stands where: layers, wires, joins, bounces, modules, the critical path', () => {
    const graph = graphOf(ALL)
    expect(GraphSchema.parse(graph)).toEqual(graph)
    expect(graph.nodes.find(({ id }) => id === 'each')).toMatchObject({
      layer: 1,
      foreach: true,
      module: 0,
      critical: true,
    })
    expect(graph.nodes.find(({ id }) => id === 's')).toMatchObject({ layer: 4, approval: true, post_gates: ['good'] })
    expect(graph.nodes.find(({ id }) => id === 'c')).toMatchObject({ layer: 1, critical: false })
    expect(graph.edges.find(({ from, to }) => from === 'b' && to === 'd')).toMatchObject({ wires: ['list -> list'] })
    expect(graph.bounces).toEqual([{ from: 's', to: 'each', when_gate: 'good', max_bounces: 5, resets: [] }])
    const inJoins = graph.edges.filter(({ join }) => join).map(({ from, to }) => `${from} ${to}`)
    const direct = graph.joins.flatMap(({ before, waits_for }) => waits_for.map((from) => `${from} ${before}`))
    expect(direct).toEqual(expect.arrayContaining(inJoins))
    expect(graph.critical_path).toMatchObject({ seconds: 6 })
    expect(graphOf(CHILD).nodes[0]).toMatchObject({ mode: 'dag', child: 'other' })
    expect(graphOf(QUESTION).nodes[0]).toMatchObject({ mode: 'research' })
  })
})

describe('drawMermaid()', () => {
  test('draws kinds, marks, joins and bounces', () => {
    const text = drawMermaid(graphOf(ALL))
    expect(text).toMatch(/^flowchart LR\n/)
    expect(text).toMatch(/n2\[\/"each<br\/>deterministic · foreach"\/\]/)
    expect(text).toMatch(/n7\["s<br\/>deterministic · asks a person · 1 gate"\]/)
    expect(text).toMatch(/n7 -\.->\|"good failed, at most 5 times"\| n2/)
    expect(text).toMatch(/-->\|join\| /)
    expect(drawMermaid(graphOf(CHILD))).toMatch(/n0\[\["ask<br\/>dag other"\]\]/)
    expect(drawMermaid(graphOf(QUESTION))).toMatch(/n0\[\["ask<br\/>research"\]\]/)
  })

  test.each(HOSTILE)('writes %j so that it stays a label', (name) => {
    const lines = drawMermaid(graphOf(named(name)))
      .trimEnd()
      .split('\n')
    const word = String.raw`(?:[\p{L}\p{N} ._,·…-]|#\d+;|<br/>)*`
    const allowed = [
      'flowchart LR',
      `  accTitle: ${word}`,
      String.raw`  n\d\{\{"${word}"\}\}`,
      String.raw`  n\d -->(\|join\|)? n\d`,
      String.raw`  n\d -\.->\|"${word}"\| n\d`,
      '  classDef critical stroke-width:3px',
      String.raw`  class n\d(,n\d)* critical`,
    ].map((pattern) => new RegExp(`^${pattern}$`, 'u'))
    expect(lines.filter((line) => !allowed.some((pattern) => pattern.test(line)))).toEqual([])
  })
})

describe('drawDot()', () => {
  test('draws kinds, marks, joins and bounces', () => {
    const text = drawDot(graphOf(ALL))
    expect(text).toMatch(/"each" \[label="each\\ndeterministic · foreach", shape=box3d, style="bold"\]/)
    expect(text).toMatch(/"s" -> "each" \[style=dashed, constraint=false, label="good failed, at most 5 times"\]/)
    expect(text).toMatch(/ -> "\w" \[label="join"\]/)
  })

  test.each(HOSTILE)('writes %j so that it stays in its quotes', (name) => {
    // What is left without quoted strings is only our own.
    const bare = drawDot(graphOf(named(name))).replace(/"(?:[^"\\]|\\.)*"/gs, 'Q')
    const own = /^(digraph Q \{|\}| {2}(rankdir=LR|(node|edge) \[[\w=, ]+\]|Q( -> Q)?( \[[\w=, ]+\])?))$/
    expect(
      bare
        .trimEnd()
        .split('\n')
        .filter((line) => !own.test(line)),
    ).toEqual([])
  })
})

describe('drawSvg()', () => {
  test('says in words what it draws, and has no colour of its own but in two schemes', () => {
    const svg = drawSvg(graphOf(ALL))
    expect(svg).toMatch(/role="img" aria-labelledby="title description"/)
    expect(svg).toMatch(/<title id="title">all<\/title>/)
    expect(svg).toMatch(/w waits for p, q\./)
    expect(svg).toMatch(/s goes back to each when good fails\./)
    expect(svg).toMatch(/<path class="bounce"/)
    expect(svg.match(/#[0-9a-f]{6}/g)).toHaveLength(2)
    expect(elementsOf(svg).filter((name) => name === 'g')).toHaveLength(10)
  })

  test.each(HOSTILE)('writes %j as text', (name) => {
    const svg = drawSvg(graphOf(named(name)))
    expect(new Set(elementsOf(svg))).toEqual(
      new Set(['svg', 'title', 'desc', 'style', 'defs', 'marker', 'path', 'text', 'g', 'rect']),
    )
    for (const mark of ['\u202e', '\u0007', '\u009b']) expect(svg).not.toContain(mark)
  })

  test('stays well-formed for every text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }), (name) => {
        const graph = graphOf(ALL)
        elementsOf(drawSvg({ ...graph, dag: name, nodes: graph.nodes.map((node) => ({ ...node, name })) }))
      }),
      { numRuns: 50 },
    )
  })

  test('puts no two blocks in one place', () => {
    for (const { upstream } of randomDags('layered').slice(100)) {
      const blocks = upstream.map((_, v) => ({ id: `b${v}`, mode: 'approval', approval: { prompt: 'Go?' } }))
      const edges = upstream.flatMap((sources, v) => sources.map((u) => ({ from: `b${u}`, to: `b${v}` })))
      const graph = graphOf(JSON.stringify({ blocks, ...(edges.length > 0 && { edges }) }))
      const spots = [...layeredLayout(graph).values()].map(({ column, row }) => `${column} ${row}`)
      expect(new Set(spots).size).toBe(blocks.length)
    }
  })
})

/** Names of the elements of an XML text; fails where tags do not nest or an attribute is not quoted. */
function elementsOf(xml: string): readonly string[] {
  const open: string[] = []
  const names: string[] = []
  for (const [tag] of xml.matchAll(/<[^>]*>/g)) {
    const [, slash, name = '', attributes = '', end] =
      /^<(\/?)([a-zA-Z]+)((?: [a-zA-Z:-]+="[^"<]*")*) ?(\/?)>$/.exec(tag) ?? []
    if (name === '') throw new Error(`not a tag: ${tag}`)
    if (slash === '/') expect(open.pop()).toBe(name)
    else names.push(name)
    if (slash === '' && end === '') open.push(name)
    expect(attributes).not.toMatch(/ on[a-z]+=/)
  }
  expect(open).toEqual([])
  const texts = xml.replace(/<style>[^<]*<\/style>/, '').split(/<[^>]*>/)
  expect(texts.filter((text) => /[<>"']|&(?!#\d+;)|\p{Cc}/u.test(text.trim()))).toEqual([])
  return names
}
