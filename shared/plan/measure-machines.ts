import type { Machine } from '../compile/asl.ts'
import { bindPlaceholders } from '../compile/bind.ts'
import { callOf } from './read-task.ts'

/** What a machine's text is made of. */
export interface MachineFigures {
  /** States of all kinds, waits for a retry among them. */
  readonly states: number
  readonly joins: number
  readonly parallels: number
  /** Block and join pairs: how often a block that has ended tells a join. */
  readonly signals: number
  /** The deepest nesting of Parallels. */
  readonly depth: number
}

/** Counts by walking the text, branches and items included. */
export function measureMachine(machine: Machine): MachineFigures {
  const figures = { states: 0, joins: 0, parallels: 0, signals: 0, depth: 0 }
  measureRow(machine, 0, figures)
  return figures
}

/** Recursion is as deep as Parallels nest. */
function measureRow({ States }: Machine, depth: number, figures: { -readonly [K in keyof MachineFigures]: number }) {
  figures.depth = Math.max(figures.depth, depth)
  for (const state of Object.values(States)) {
    const call = callOf(state)
    figures.states += 1
    figures.joins += call?.join === undefined ? 0 : 1
    figures.signals += call?.joins?.length ?? 0
    if (state.Type === 'Map') measureRow(state.ItemProcessor, depth, figures)
    if (state.Type !== 'Parallel') continue
    figures.parallels += 1
    for (const branch of state.Branches) measureRow(branch, depth + 1, figures)
  }
}

/** Bytes of a machine's text with ARNs of a usual length in the place of its placeholders. */
export function boundBytes(text: string): number {
  return new TextEncoder().encode(bindPlaceholders(text, arnsIn(text))).length
}

/** us-east-1, stage dev: another region or stage is some characters longer, once a state. */
function arnsIn(text: string): Readonly<Record<string, string>> {
  const names = new Set(Array.from(text.matchAll(/\$\{([^}]*)\}/g), ([, name = '']) => name))
  return Object.fromEntries([...names].map((name) => [name, /^Part\d+$/.test(name) ? PART_ARN : arnOf(name)]))
}

const ACCOUNT = 'us-east-1:123456789012'
const PART_ARN = `arn:aws:states:${ACCOUNT}:stateMachine:sluice-dev-x-0123456789abcdef0123-p1`

/** `RunBlock` -> `run-block`. */
function arnOf(placeholder: string): string {
  const name = placeholder.replace(/(?!^)[A-Z]/g, '-$&').toLowerCase()
  return `arn:aws:lambda:${ACCOUNT}:function:sluice-dev-${name}`
}
