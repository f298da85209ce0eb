import type { Json } from '../canonical.ts'
import type { Block, Dag } from '../dag/dag.ts'

/**
 * Names of the run inputs a block reads without a port of its own: those any of its prompts, templates, expressions or
 * gates names, as a word; rather one too many than one too few. So a changed run input is a changed input of the blocks
 * that read it, and of no other. Handlers get them all, as does a person who is shown all there is.
 */
export function runInputsRead({ inputs }: Pick<Dag, 'inputs'>, block: Block): readonly string[] {
  const names = Object.keys(inputs).filter((name) => !Object.hasOwn(block.inputs, name))
  if (names.length === 0 || block.mode === 'deterministic' || block.approval?.show.length === 0) return names
  const text = textsOf(block).join('\n')
  return names.filter((name) => text.includes(name) && isWordOf(name, text))
}

/** Everything of a block that may name an input. */
function textsOf(block: Block): readonly string[] {
  const { when = '', approval, pre_gates, post_gates, foreach } = block
  const checks = [...pre_gates, ...post_gates, ...(foreach?.item_gates ?? [])].map(({ check }) => check)
  return [when, ...strings({ ...approval }), ...strings(workOf(block)), ...strings(checks), ...strings(foreach?.items)]
}

function workOf(block: Block): unknown {
  switch (block.mode) {
    case 'ai':
      return block.agent
    case 'dag':
      return block.dag.inputs
    case 'research':
      return block.research
    default:
      return {}
  }
}

function strings(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value as Readonly<Record<string, Json>>).flatMap(strings)
}

function isWordOf(name: string, text: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const around = [text[at - 1] ?? ' ', text[at + name.length] ?? ' ']
    if (around.every((character) => !/\w/.test(character))) return true
  }
  return false
}
