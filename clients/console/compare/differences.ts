import type { operations } from '../../api/schema.generated.ts'

export type RunDiff = operations['diff-runs']['responses'][200]['content']['application/json']
export type BlockDiff = RunDiff['blocks'][number]
type BlockSide = NonNullable<BlockDiff['a']>

/** One line of a comparison, both sides in words. */
interface Difference {
  readonly what: string
  readonly a: string
  readonly b: string
}

/** How a block's results differ, without its cost and time: those are never quite the same. */
export function differencesOf(block: BlockDiff): readonly Difference[] {
  const { a, b, definition } = block
  return [
    ...(definition === 'same' ? [] : [{ what: 'definition', ...SIDES[definition] }]),
    ...differing('state', a?.state, b?.state),
    ...differing('error', errorOf(a), errorOf(b)),
    ...differing('attempts', numberOf(a?.attempt), numberOf(b?.attempt)),
    ...differing('passes', numberOf(passesOf(a)), numberOf(passesOf(b))),
    ...block.gates.flatMap(({ gate, a: left, b: right }) => differing(`gate ${gate}`, left, right)),
    ...Object.entries(block.outputs).flatMap(([port, how]) =>
      how === 'same' ? [] : [{ what: `output ${port}`, a: outputWords(a, port), b: outputWords(b, port) }],
    ),
  ]
}

/** Blocks that differ, and those that do not: the latter are folded away. */
export function partitionBlocks(blocks: readonly BlockDiff[]): {
  readonly different: readonly BlockDiff[]
  readonly equal: readonly BlockDiff[]
} {
  const isDifferent = (block: BlockDiff) => differencesOf(block).length > 0
  return { different: blocks.filter(isDifferent), equal: blocks.filter((block) => !isDifferent(block)) }
}

/** `+12 %`, `-3 %`, `same`; undefined where one is not known or there is nothing to compare with. */
export function changeWords(a: number | null, b: number | null): string | undefined {
  if (a === null || b === null) return undefined
  if (a === b) return 'same'
  if (a === 0) return undefined
  const percent = Math.round(((b - a) / a) * 100)
  return `${percent > 0 ? '+' : ''}${percent} %`
}

const NOT_THERE = 'not there'

const SIDES: Readonly<Record<Exclude<BlockDiff['definition'], 'same'>, Omit<Difference, 'what'>>> = {
  different: { a: 'one definition', b: 'another definition' },
  only_a: { a: 'there', b: NOT_THERE },
  only_b: { a: NOT_THERE, b: 'there' },
}

function differing(what: string, a: string | undefined, b: string | undefined): readonly Difference[] {
  return a === b ? [] : [{ what, a: a ?? NOT_THERE, b: b ?? NOT_THERE }]
}

function errorOf(side: BlockSide | undefined): string | undefined {
  return side?.error === undefined ? undefined : `${side.error.code}: ${side.error.reason}`
}

/** An epoch counts how often a block was reset: the first pass has epoch 0. */
function passesOf(side: BlockSide | undefined): number | undefined {
  return side === undefined ? undefined : side.epoch + 1
}

function numberOf(value: number | undefined): string | undefined {
  return value === undefined ? undefined : String(value)
}

function outputWords(side: BlockSide | undefined, port: string): string {
  const stored = side !== undefined && Object.hasOwn(side.outputs, port) ? side.outputs[port] : undefined
  return stored === undefined ? NOT_THERE : `${stored.bytes} B, sha256 ${stored.sha256.slice(0, 12)}`
}
