import './evals.css'
import { signal } from '@preact/signals'
import { type ResultLine, type Round, readRound, type Verdict } from '../../../shared/evals/round-file.ts'
import { durationWords, usdWords } from '../parts/format.ts'
import { hrefOf } from '../route.ts'
import { isDifferent, SHOWN, type Shown, shownItems, type VariantSides, variantSides } from './variant-sides.ts'

/** The round that was opened: it stays while the page does, whatever else is looked at. */
const opened = signal<{ readonly file: string; readonly round: Round | undefined } | undefined>(undefined)
const sides = signal<readonly [a: string, b: string]>(['', ''])
const shown = signal<Shown>('differ')

/** Two variants of an evaluation side by side. Rounds are files of a project: one is opened here, and nothing of it is sent. */
export function EvalsView() {
  return (
    <section class="page stack">
      <h1>Evaluations</h1>
      <label class="row">
        <span>A round (evals/results/…/*.ndjson)</span>
        <input type="file" accept=".ndjson" onChange={(event) => void open(event.currentTarget.files?.[0])} />
      </label>
      <Opened />
    </section>
  )
}

async function open(file: File | undefined): Promise<void> {
  if (file === undefined) return
  const round = readRound(await file.text())
  const [first, second] = round?.head.variants ?? []
  sides.value = [first?.name ?? '', second?.name ?? first?.name ?? '']
  opened.value = { file: file.name, round }
}

function Opened() {
  if (opened.value === undefined) {
    return (
      <p class="empty">
        <code>sluice eval run</code> writes a round; open its file to see two variants side by side, with the words of
        judges.
      </p>
    )
  }
  const { file, round } = opened.value
  if (round === undefined) {
    return (
      <div class="notice tone-bad" role="alert">
        <p>
          <strong>{file} is no round.</strong> Its first line is not what <code>sluice eval run</code> writes.
        </p>
      </div>
    )
  }
  return <Sides round={round} />
}

function Sides({ round }: { readonly round: Round }) {
  const [a, b] = sides.value
  const found = variantSides(round, a, b)
  const items = shownItems(found.items, shown.value)
  return (
    <>
      <p>
        <strong>{round.head.eval}</strong>, round {round.head.round}: {round.head.items.length} items,{' '}
        {round.results.length} results{round.end?.why === 'complete' ? '' : ', not complete'}
      </p>
      <div class="row">
        <VariantChoice label="A" value={a} round={round} choose={(name) => [name, b]} />
        <VariantChoice label="B" value={b} round={round} choose={(name) => [a, name]} />
        <label>
          Items{' '}
          <select value={shown.value} onChange={(event) => chooseShown(event.currentTarget.value)}>
            {Object.entries(SHOWN).map(([name, words]) => (
              <option key={name} value={name}>
                {words}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Counts found={found} />
      <p>
        {items.length} of {found.items.length} items
        {found.missing > 0 && `; ${found.missing} without a result on one of the sides`}
      </p>
      {items.slice(0, MOST).map((item) => (
        <ItemSides key={item.item} item={item} />
      ))}
      {items.length > MOST && <p class="soft">The first {MOST} are shown.</p>}
    </>
  )
}

/** Items drawn at once. */
const MOST = 200

interface ChoiceProps {
  readonly label: string
  readonly value: string
  readonly round: Round
  choose(name: string): readonly [a: string, b: string]
}

function VariantChoice({ label, value, round, choose }: ChoiceProps) {
  const change = (name: string) => {
    sides.value = choose(name)
  }
  return (
    <label>
      {label}{' '}
      <select value={value} onChange={(event) => change(event.currentTarget.value)}>
        {round.head.variants.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

function chooseShown(value: string): void {
  for (const name of ['all', 'differ', 'failed_a', 'failed_b'] as const) if (name === value) shown.value = name
}

function Counts({ found: { counts } }: { readonly found: VariantSides }) {
  return (
    <div class="scroll">
      <table class="sides">
        <caption class="visually-hidden">What passed, of each side</caption>
        <thead>
          <tr>
            <th scope="col">Passed</th>
            <th scope="col">A</th>
            <th scope="col">B</th>
          </tr>
        </thead>
        <tbody>
          {counts.map(({ what, a, b }) => (
            <tr key={what}>
              <th scope="row">{what}</th>
              <td>{a}</td>
              <td class={a === b ? '' : 'tone-text-warn'}>{b}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function ItemSides({ item }: { readonly item: VariantSides['items'][number] }) {
  const { a, b, passed, verdicts } = item
  return (
    <details class="eval-item" open={isDifferent(passed)}>
      <summary>
        <strong>{item.item}</strong> A <Mark verdict={passed.a} /> B <Mark verdict={passed.b} />
      </summary>
      <div class="scroll">
        <table class="sides">
          <caption class="visually-hidden">Item {item.item}</caption>
          <thead>
            <tr>
              <td />
              <RunHead side="A" result={a} />
              <RunHead side="B" result={b} />
            </tr>
          </thead>
          <tbody>
            {verdicts.map((verdict) => (
              <tr key={verdict.what} class={isDifferent(verdict) ? 'is-different' : ''}>
                <th scope="row">{verdict.what}</th>
                <VerdictCell verdict={verdict.a} />
                <VerdictCell verdict={verdict.b} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <a class="button" href={hrefOf(['compare', a.run_id, b.run_id])}>
        Compare the runs, with their outputs
      </a>
    </details>
  )
}

function RunHead({ side, result }: { readonly side: string; readonly result: ResultLine }) {
  const { run_id, tokens, usd, latency_ms } = result
  const facts = [
    ...(latency_ms === null ? [] : [durationWords(latency_ms)]),
    ...(tokens === 0 ? [] : [`${tokens} tokens`, usdWords(usd, result.unpriced_tokens)]),
  ]
  return (
    <th scope="col">
      {side} <a href={hrefOf(['runs', run_id])}>{run_id.slice(4, 12)}</a>{' '}
      <span class="soft small">{facts.join(', ')}</span>
    </th>
  )
}

function VerdictCell({ verdict }: { readonly verdict: Verdict | undefined }) {
  return (
    <td>
      <Mark verdict={verdict} /> {verdict?.words}
    </td>
  )
}

/** By sign and word, never by colour alone. */
function Mark({ verdict }: { readonly verdict: Verdict | undefined }) {
  if (verdict === undefined) return <span class="soft">not asked</span>
  return (
    <span class={verdict.passed ? 'sign-word soft' : 'sign-word tone-text-warn'}>
      <span aria-hidden="true">{verdict.passed ? '✓' : '✕'}</span> {verdict.passed ? 'passed' : 'failed'}
    </span>
  )
}
