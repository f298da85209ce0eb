import type { DagGraph } from './graph.ts'

type Node = DagGraph['nodes'][number] & { readonly state?: string; readonly attempt?: number }

/** What stands in a node, a line each: its id, its name if it says more, what it is, what it is doing. */
export function nodeLabel(node: Node): readonly string[] {
  const { id, name, mode, child, state, attempt = 0 } = node
  const work = child === undefined ? mode : `${mode} ${child}`
  const marks = marksOf(node)
  return [
    shown(id),
    ...(name === id ? [] : [shown(name)]),
    shown(marks.length === 0 ? work : `${work} · ${marks.join(' · ')}`),
    ...(state === undefined ? [] : [shown(attempt > 1 ? `${state}, try ${attempt}` : state)]),
  ]
}

/** What a bounce says on its way back. */
export function bounceLabel({ when_gate, max_bounces }: DagGraph['bounces'][number]): string {
  return shown(`${when_gate} failed, at most ${max_bounces} times`)
}

function marksOf({ approval, mode, foreach, when, cached, pre_gates, post_gates }: Node): readonly string[] {
  const gates = pre_gates.length + post_gates.length
  return [
    ...(approval && mode !== 'approval' ? ['asks a person'] : []),
    ...(foreach ? ['foreach'] : []),
    ...(when ? ['conditional'] : []),
    ...(cached ? ['cached'] : []),
    ...(gates === 0 ? [] : [gates === 1 ? '1 gate' : `${gates} gates`]),
  ]
}

const MOST_CHARACTERS = 48

/** Text of a document without what could act on whoever shows it: controls, line ends, bidi marks; cut to a line. */
export function shown(text: string): string {
  const plain = text.toWellFormed().replace(UNPRINTABLE, ' ').replace(/\s+/g, ' ').trim()
  const points = [...plain]
  return points.length <= MOST_CHARACTERS ? plain : `${points.slice(0, MOST_CHARACTERS - 1).join('')}…`
}

const UNPRINTABLE = /[\p{Cc}\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu
