import type { BlockDraft } from './read-block.ts'
import type { Path } from './source.ts'

/** One dependency: `from` is done before `to` starts. With `output` and `input` a value travels too. */
export interface Wire {
  readonly from: BlockDraft
  readonly to: BlockDraft
  readonly output?: string
  readonly input?: string
  /** Expression that makes the value. */
  readonly transform?: string
  /** Where it is written. */
  readonly path: Path
}
