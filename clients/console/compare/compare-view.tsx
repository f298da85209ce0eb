import './compare.css'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { answerOf, api } from '../api.ts'
import { durationWords, usdWords } from '../parts/format.ts'
import { useKeys } from '../parts/keyboard-shortcuts.tsx'
import { Empty, ProblemNotice } from '../parts/notice.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { Ago } from '../parts/time-view.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { ValueView } from '../parts/value-view.tsx'
import { hrefOf, route } from '../route.ts'
import { type BlockDiff, changeWords, differencesOf, partitionBlocks, type RunDiff } from './differences.ts'

/** Two runs side by side; runs to choose from, where the address names fewer. */
export function CompareView() {
  const [, a, b] = route.value.parts
  return (
    <section class="page stack">
      <h1>Compare two runs</h1>
      {a !== undefined && b !== undefined ? <Comparison key={`${a} ${b}`} a={a} b={b} /> : <RunPicker a={a} />}
    </section>
  )
}

function Comparison({ a, b }: { readonly a: string; readonly b: string }) {
  const { value, problem, reload } = useAnswer(`diff ${a} ${b}`, () => askDiff(a, b))
  const swapped = hrefOf(['compare', b, a])
  useKeys({
    key: 's',
    label: 'Swap the sides',
    run: () => {
      location.hash = swapped
    },
  })
  return (
    <>
      <div class="row">
        <a class="button" href={swapped}>
          ⇄ Swap sides
        </a>
        <a class="button" href={hrefOf(['compare', a])}>
          Another run on the right
        </a>
        <a class="button" href={hrefOf(['compare'])}>
          Choose two others
        </a>
      </div>
      {problem !== undefined && <ProblemNotice problem={problem} retry={reload} />}
      {value === undefined && problem === undefined && <p class="empty">Comparing.</p>}
      {value !== undefined && (
        <>
          <RunSides diff={value} />
          <BlockDifferences diff={value} />
        </>
      )}
    </>
  )
}

function askDiff(run_id: string, other_id: string) {
  const params = { path: { run_id, other_id } }
  return answerOf(api.GET('/api/dag/runs/{run_id}/diff/{other_id}', { params }))
}

/** Recent runs to compare: any for the left side, then those of the same DAG for the right one. */
function RunPicker({ a }: { readonly a: string | undefined }) {
  const { value, problem, reload } = useAnswer(`runs to compare with ${a}`, () => askRuns(a))
  if (problem !== undefined) return <ProblemNotice problem={problem} retry={reload} />
  if (value === undefined) return <p class="empty">Asking the place for its runs.</p>
  const { dag, runs } = value
  const words =
    dag === undefined
      ? 'Choose the run for the left side (A).'
      : `Choose the run of ${dag} to compare with ${a?.slice(4, 12)}.`
  if (runs.length === 0)
    return <Empty>{dag === undefined ? 'There is no run yet.' : `There is no other run of ${dag} yet.`}</Empty>
  return (
    <>
      <p>{words}</p>
      <ul class="picker">
        {runs.map((run) => (
          <li key={run.run_id}>
            <a href={hrefOf(a === undefined ? ['compare', run.run_id] : ['compare', a, run.run_id])}>
              <strong>{run.dag_name}</strong> <code class="soft">{run.run_id.slice(4, 12)}</code>
              <StateMark state={run.state} />
              <span class="soft">
                <Ago at={run.created_at} /> by {run.starter}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}

async function askRuns(a: string | undefined) {
  const dag = a === undefined ? undefined : await nameOf(a)
  const query = { limit: 50, ...(dag === undefined ? {} : { dag }) }
  const { runs } = await answerOf(api.GET('/api/dag/runs', { params: { query } }))
  return { dag, runs: runs.filter(({ run_id }) => run_id !== a) }
}

async function nameOf(run_id: string): Promise<string> {
  const { run } = await answerOf(api.GET('/api/dag/runs/{run_id}', { params: { path: { run_id } } }))
  return run.dag_name
}

/** Both runs as a whole: state, document, cost, time. */
function RunSides({ diff: { a, b, context } }: { readonly diff: RunDiff }) {
  const keys = Object.entries(context)
  return (
    <div class="scroll">
      <table class="sides">
        <caption class="visually-hidden">The two runs as a whole</caption>
        <thead>
          <tr>
            <td />
            <SideHead run={a} side="A" />
            <SideHead run={b} side="B" />
            <th scope="col">Differs</th>
          </tr>
        </thead>
        <tbody>
          <Row
            name="State"
            a={<StateMark state={a.state} />}
            b={<StateMark state={b.state} />}
            isSame={a.state === b.state}
          />
          <Row name="Reason" a={a.reason ?? 'none'} b={b.reason ?? 'none'} isSame={a.reason === b.reason} />
          <Row name="Document" a={hashOf(a)} b={hashOf(b)} isSame={a.dag_hash === b.dag_hash} />
          <Row name="Blocks" a={a.blocks} b={b.blocks} isSame={a.blocks === b.blocks} />
          <Row name="Attempts" a={a.attempts} b={b.attempts} isSame={a.attempts === b.attempts} />
          <Row
            name="Tokens"
            a={a.tokens.toLocaleString('en')}
            b={b.tokens.toLocaleString('en')}
            isSame={a.tokens === b.tokens}
            change={changeWords(a.tokens, b.tokens)}
          />
          <Row
            name="Cost"
            a={usdWords(a.usd, a.unpriced_tokens)}
            b={usdWords(b.usd, b.unpriced_tokens)}
            isSame={a.usd === b.usd && a.unpriced_tokens === b.unpriced_tokens}
            change={changeWords(wholePrice(a), wholePrice(b))}
          />
          <Row
            name="Duration"
            a={runTime(a.duration_ms)}
            b={runTime(b.duration_ms)}
            isSame={a.duration_ms === b.duration_ms}
            change={changeWords(a.duration_ms, b.duration_ms)}
          />
          {keys.map(([key, how]) => (
            <Row
              key={key}
              name={`Context ${key}`}
              a={how === 'only_b' ? 'not there' : 'there'}
              b={how === 'only_a' ? 'not there' : 'there'}
              isSame={false}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

type RunSide = RunDiff['a']

function SideHead({ run, side }: { readonly run: RunSide; readonly side: string }) {
  return (
    <th scope="col">
      {side}:{' '}
      <a href={hrefOf(['runs', run.run_id, 'graph'])}>
        {run.dag_name} <code>{run.run_id.slice(4, 12)}</code>
      </a>
    </th>
  )
}

interface RowProps {
  readonly name: string
  readonly a: ComponentChildren
  readonly b: ComponentChildren
  readonly isSame: boolean
  readonly change?: string | undefined
}

function Row({ name, a, b, isSame, change }: RowProps) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="numbers">{a}</td>
      <td class="numbers">{b}</td>
      <td>
        <Sign isSame={isSame} words={isSame ? undefined : change} />
      </td>
    </tr>
  )
}

function hashOf({ dag_hash }: RunSide) {
  return <code title={dag_hash}>{dag_hash.slice(0, 12)}</code>
}

/** Of a price that is known in parts nobody can say how much it changed. */
function wholePrice({ usd, unpriced_tokens }: RunSide): number | null {
  return unpriced_tokens === undefined ? usd : null
}

function runTime(ms: number | null): string {
  return ms === null ? 'not ended' : durationWords(ms)
}

/** What differs by block; blocks that came out alike are folded away. */
function BlockDifferences({ diff }: { readonly diff: RunDiff }) {
  const { different, equal } = partitionBlocks(diff.blocks)
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
            <td>{bothWords(blockTime(a), blockTime(b))}</td>
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

function blockTime(side: Side): string {
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

interface OutputProps {
  readonly port: string
  readonly block: BlockDiff
  readonly diff: RunDiff
}

/** The values of one output, asked for when somebody wants to see them. */
function OutputSides({ port, block, diff }: OutputProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        Values of output <code>{port}</code>
      </summary>
      {isOpen && (
        <div class="value-sides">
          <OutputValue name="A" run_id={diff.a.run_id} side={block.a} block_id={block.block_id} port={port} />
          <OutputValue name="B" run_id={diff.b.run_id} side={block.b} block_id={block.block_id} port={port} />
        </div>
      )}
    </details>
  )
}

interface ValueProps {
  readonly name: string
  readonly run_id: string
  readonly block_id: string
  readonly port: string
  readonly side: BlockDiff['a']
}

function OutputValue({ name, run_id, block_id, port, side }: ValueProps) {
  const isThere = side !== undefined && Object.hasOwn(side.outputs, port)
  const { value, problem, reload } = useAnswer(`output ${run_id} ${block_id} ${isThere}`, async () =>
    isThere ? await askOutputs(run_id, block_id) : undefined,
  )
  return (
    <div>
      <h4>{name}</h4>
      {!isThere && <p class="empty">This run has no such output.</p>}
      {problem !== undefined && <ProblemNotice problem={problem} retry={reload} />}
      {value !== undefined && <ValueView value={value.outputs[port]} label={`output ${port} of run ${name}`} />}
    </div>
  )
}

function askOutputs(run_id: string, block_id: string) {
  const params = { path: { run_id, block_id } }
  return answerOf(api.GET('/api/dag/runs/{run_id}/outputs/{block_id}', { params }))
}

/** Whether two sides are alike, by sign and word; `words` say how much they differ. */
function Sign({ isSame, words }: { readonly isSame: boolean; readonly words?: string | undefined }) {
  return (
    <span class={isSame ? 'sign-word soft' : 'sign-word tone-text-warn'}>
      <span aria-hidden="true">{isSame ? '=' : '≠'}</span> {words ?? (isSame ? 'same' : 'different')}
    </span>
  )
}
