import { usdWords } from '../parts/amount-words.ts'
import { StateMark } from '../parts/state-mark.tsx'
import { durationWords } from '../parts/time-words.ts'
import { hrefOf } from '../route.ts'
import { Sign } from './difference-sign.tsx'
import { type BlockDiff, differencesOf, partBlocks, type RunDiff } from './differences.ts'
import { OutputSides } from './output-sides.tsx'

/** What differs by block; blocks that came out alike are folded away. */
export function BlockDifferences({ diff }: { readonly diff: RunDiff }) {
  const { different, equal } = partBlocks(diff.blocks)
  return (
    <>
      <h2>
        {different.length === 0 ? 'All blocks came out alike' : `${blocksWords(different.length)} came out differently`}
      </h2>
      {different.map((block) => (
        <OneBlock key={block.block_id} block={block} diff={diff} />
      ))}
      {equal.length > 0 && (
        <details class="card">
          <summary>
            <Sign isSame={true} /> {blocksWords(equal.length)} with the same states, gates and outputs
          </summary>
          <Measures blocks={equal} />
        </details>
      )}
    </>
  )
}

function blocksWords(n: number): string {
  return `${n} ${n === 1 ? 'block' : 'blocks'}`
}

function OneBlock({ block, diff }: { readonly block: BlockDiff; readonly diff: RunDiff }) {
  const changed = Object.entries(block.outputs).filter(([, how]) => how !== 'same')
  return (
    <section class="card stack">
      <h3>
        <Sign isSame={false} words={block.block_id} />
      </h3>
      <table class="sides">
        <caption class="visually-hidden">Differences of {block.block_id}</caption>
        <thead>
          <tr>
            <th scope="col">What</th>
            <th scope="col">A</th>
            <th scope="col">B</th>
          </tr>
        </thead>
        <tbody>
          {differencesOf(block).map(({ what, a, b }) => (
            <tr key={what}>
              <th scope="row">
                <Sign isSame={false} words={what} />
              </th>
              <td>{what === 'state' ? <StateMark state={a} /> : a}</td>
              <td>{what === 'state' ? <StateMark state={b} /> : b}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Measures blocks={[block]} />
      {changed.map(([port]) => (
        <OutputSides key={port} port={port} block={block} diff={diff} />
      ))}
      <p class="small">
        <a href={hrefOf(['runs', diff.a.run_id, 'graph'], { block: block.block_id })}>Block in run A</a>{' '}
        <a href={hrefOf(['runs', diff.b.run_id, 'graph'], { block: block.block_id })}>Block in run B</a>
      </p>
    </section>
  )
}

/** Time and cost, side by side: they differ in nearly every run, and say nothing of the results. */
function Measures({ blocks }: { readonly blocks: readonly BlockDiff[] }) {
  return (
    <table class="sides">
      <caption class="visually-hidden">Time and cost, run A then run B</caption>
      <thead>
        <tr>
          <th scope="col">Block</th>
          <th scope="col">Time A → B</th>
          <th scope="col">Tokens A → B</th>
          <th scope="col">Cost A → B</th>
        </tr>
      </thead>
      <tbody>
        {blocks.map(({ block_id, a, b }) => (
          <tr key={block_id} class="numbers">
            <th scope="row">{block_id}</th>
            <td>{bothWords(timeOf(a), timeOf(b))}</td>
            <td>{bothWords(tokensOf(a), tokensOf(b))}</td>
            <td>{bothWords(costOf(a), costOf(b))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function bothWords(a: string, b: string): string {
  return a === b ? a : `${a} → ${b}`
}

type Side = BlockDiff['a']

function timeOf(side: Side): string {
  if (side?.cached_from !== undefined) return 'taken over'
  return side === undefined || side.duration_ms === null ? 'none' : durationWords(side.duration_ms)
}

function tokensOf(side: Side): string {
  return side === undefined ? 'none' : side.tokens.toLocaleString('en')
}

function costOf(side: Side): string {
  if (side === undefined || side.tokens === 0) return 'none'
  return usdWords(side.usd, side.unpriced_tokens)
}
