import type { operations } from '../../api/schema.generated.ts'

type Listed = operations['list-triggers']['responses'][200]['content']['application/json']
export type Trigger = Listed['triggers'][number]

/** A firing's state as a mark of the console has it. */
export function firingState(state: 'owed' | 'started' | 'skipped' | 'failed'): string {
  return state === 'owed' ? 'pending' : state === 'started' ? 'completed' : state
}

/** What is wrong with a trigger, in words; undefined: nothing is. */
export function troubleOf({ failures }: Pick<Trigger, 'failures'>): string | undefined {
  if (failures === 0) return undefined
  return failures === 1
    ? 'The last firing failed: no run was started.'
    : `The last ${failures} firings failed: no run was started.`
}

/** What somebody typed as JSON: nothing is nothing. The words say what is wrong with it. */
export function readTyped(text: string): { readonly value?: unknown } | { readonly problem: string } {
  if (text.trim() === '') return {}
  try {
    return { value: JSON.parse(text) }
  } catch (cause) {
    return { problem: cause instanceof Error ? cause.message : String(cause) }
  }
}
