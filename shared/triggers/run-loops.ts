import { quoted } from '../text/wording.ts'
import type { RunTrigger, Trigger } from './trigger.ts'

/** A document, by the name its runs are started by, and what starts them by itself. */
export interface TriggeredDocument {
  readonly name: string
  readonly triggers: readonly Trigger[]
}

/** A trigger that stands in a loop: `index` is its place in its document. */
export interface TriggerLoop {
  readonly document: string
  readonly index: number
  readonly text: string
}

/** Each trigger by the end of runs that its own document's runs lead back to: once begun they would start each other for ever. */
export function triggerLoops(documents: readonly TriggeredDocument[]): readonly TriggerLoop[] {
  const edges = documents.flatMap(({ name, triggers }) =>
    triggers.filter((trigger) => trigger.kind === 'run').map(({ run }) => ({ from: run.dag, to: name })),
  )
  return documents.flatMap(({ name, triggers }) =>
    triggers.flatMap((trigger, index): TriggerLoop[] => {
      const way = trigger.kind === 'run' ? wayBetween(edges, name, trigger.run.dag) : undefined
      return way === undefined ? [] : [{ document: name, index, text: loopText([...way, name]) }]
    }),
  )
}

/** What a document is told of such a loop. */
function loopText(way: readonly string[]): string {
  const [first = '', ...others] = way
  const starts = others.map((name) => `that of ${quoted(name)}`).join(', ')
  return `closes a loop: the end of a run of ${quoted(first)} starts ${starts}`
}

interface Edge {
  readonly from: string
  readonly to: string
}

/** The shortest way along the edges, both ends included; undefined: there is none. */
function wayBetween(edges: readonly Edge[], from: string, to: string): readonly string[] | undefined {
  const before = new Map<string, string | undefined>([[from, undefined]])
  for (const name of before.keys()) {
    if (name === to) return wayBack(before, to)
    for (const edge of edges) {
      if (edge.from === name && !before.has(edge.to)) before.set(edge.to, name)
    }
  }
  return undefined
}

function wayBack(before: ReadonlyMap<string, string | undefined>, to: string): readonly string[] {
  const way: string[] = []
  for (let name: string | undefined = to; name !== undefined; name = before.get(name)) way.unshift(name)
  return way
}

/** Triggers by the end of runs of a document that is not there. */
export function strangeTriggers(
  documents: readonly TriggeredDocument[],
): readonly (RunTrigger & { document: string })[] {
  const known = new Set(documents.map(({ name }) => name))
  return documents.flatMap(({ name, triggers }) =>
    triggers.flatMap((trigger) =>
      trigger.kind === 'run' && !known.has(trigger.run.dag) ? [{ ...trigger, document: name }] : [],
    ),
  )
}
