import type { Block, Bounce } from './dag.ts'

/** What the module search looks at. */
export type ModuleBlock = Pick<Block, 'id' | 'index' | 'upstream' | 'on_gate_fail'>

/** One rule of a block's `on_gate_fail` with what it sends back. */
export interface ModuleRule {
  /** `<block index>.<position of the rule>`: its key in HEAD. */
  readonly key: string
  readonly block: string
  readonly bounce: Bounce
  /** The hull: route_to, reset_blocks, this block and everything between them; ids in document order. */
  readonly hull: readonly string[]
}

/** Blocks that run again together: overlapping hulls are one module (docs/adr: nested ones too). */
export interface BounceModule {
  /** 0.. in document order of the first block: lane `m<key>`, state `_close_<key>`. */
  readonly key: number
  /** Closed under paths: what lies between two of them belongs to them. Ids in document order. */
  readonly blocks: readonly string[]
  /** Blocks without a successor in the module. */
  readonly sinks: readonly string[]
  readonly rules: readonly ModuleRule[]
}
