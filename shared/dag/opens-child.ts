import type { Block } from './dag.ts'

/** Whether a block's work is a run of its own, which it waits for (docs/adr/0024). */
export function opensChild(mode: Block['mode'] | undefined): mode is 'dag' | 'research' {
  return mode === 'dag' || mode === 'research'
}
