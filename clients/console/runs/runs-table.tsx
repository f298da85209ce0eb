import { type ReadonlySignal, type Signal, signal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useMemo, useRef } from 'preact/hooks'
import { labelWords } from '../../../shared/runs/labels.ts'
import { answerOf, api } from '../api.ts'
import { localTimes, usdWords } from '../parts/format.ts'
import { useKeys } from '../parts/keyboard-shortcuts.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { Ago, Elapsed } from '../parts/time-view.tsx'
import { hrefOf } from '../route.ts'
import { lineageOf, type RunSummary } from './run-list.ts'

interface TableProps {
  readonly runs: readonly RunSummary[]
  readonly chosen: readonly string[]
  readonly onChoose: (run_id: string) => void
}

/** Rows by keyboard: the focus moves over the links, so that Enter opens and screen readers say where it is. */
export function RunsTable({ runs, chosen, onChoose }: TableProps) {
  const table = useRef<HTMLTableElement>(null)
  useSeenRows(table, runs)
  const move = (step: number) => moveFocus(table.current, step)
  useKeys(
    { key: 'j', label: 'Next run', run: () => move(1) },
    { key: 'k', label: 'Previous run', run: () => move(-1) },
    { key: 'x', label: 'Choose the run for comparing', run: () => focusedRow()?.querySelector('input')?.click() },
  )
  const arrows = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step === 0) return
    event.preventDefault()
    move(step)
  }
  return (
    <div class="scroll">
      <table ref={table} class="runs" onKeyDown={arrows}>
        <caption class="visually-hidden">Runs, newest first. The list follows what happens.</caption>
        <thead>
          <tr>
            <td class="pick" />
            <th scope="col" class="state-head">
              State
            </th>
            <th scope="col" class="name-head">
              DAG
            </th>
            <th scope="col">Waits for, or reason</th>
            <th scope="col" class="time-head">
              Started
            </th>
            <th scope="col" class="number-cell elapsed-head">
              Elapsed
            </th>
            <th scope="col" class="number-cell tokens-cell">
              Tokens
            </th>
            <th scope="col" class="number-cell cost-cell">
              Cost
            </th>
            <th scope="col" class="starter-cell">
              Starter
            </th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <RunRow key={run.run_id} run={run} isChosen={chosen.includes(run.run_id)} onChoose={onChoose} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function focusedRow(): Element | null {
  return document.activeElement?.closest('tr[data-run]') ?? null
}

/** From nowhere to the first row; at the ends it stays. */
function moveFocus(table: HTMLTableElement | null, step: number): void {
  const row = focusedRow()
  const next =
    row === null ? table?.tBodies[0]?.rows[0] : step > 0 ? row.nextElementSibling : row.previousElementSibling
  next?.querySelector<HTMLElement>('.row-link')?.focus()
}

interface RowProps {
  readonly run: RunSummary
  readonly isChosen: boolean
  readonly onChoose: (run_id: string) => void
}

/** One run. Drawn again only when the run or the choice changed: hundreds of rows stay quick. */
function RunRow({ run, isChosen, onChoose }: RowProps) {
  return useMemo(
    () => (
      <tr data-run={run.run_id} class={isChosen ? 'is-chosen' : undefined}>
        <td class="pick">
          <label>
            <input type="checkbox" checked={isChosen} onChange={() => onChoose(run.run_id)} />
            <span class="visually-hidden">
              Compare {run.dag_name} {run.run_id}
            </span>
          </label>
        </td>
        <td class="state-cell">
          <StateMark state={run.state} />
        </td>
        <th scope="row" class="plain name-cell">
          <a class="row-link" href={hrefOf(['runs', run.run_id, 'graph'])}>
            {run.dag_name}
          </a>
          <code class="soft small" title={run.run_id}>
            {run.run_id.slice(4, 12)}
          </code>
          <LineageSign run={run} />
          {run.labels !== undefined && <span class="soft small run-labels">{labelWords(run.labels)}</span>}
        </th>
        <Facts run={run} />
        <td class="soft starter-cell" title={run.starter}>
          {run.starter}
        </td>
      </tr>
    ),
    [run, isChosen, onChoose],
  )
}

/** A sign and a word; the link leads to the other run. */
function LineageSign({ run }: { readonly run: RunSummary }) {
  const lineage = lineageOf(run)
  if (lineage === undefined) return null
  const { sign, words, run_id } = lineage
  return (
    <a class="lineage small" href={hrefOf(['runs', run_id, 'graph'])} title={`${words} ${run_id}`}>
      <span aria-hidden="true">{sign}</span> {words.split(' ', 1)[0]}
      <span class="visually-hidden">
        {' '}
        {words} {run_id}
      </span>
    </a>
  )
}

/** What a live run waits for the list does not know: an empty cell until it is there. */
function Facts({ run }: { readonly run: RunSummary }) {
  const details = detailsOf(run.run_id).value
  const words = run.reason ?? details?.words
  const ended_at = run.ended_at ?? details?.ended_at
  return (
    <>
      <td class="words-cell" title={words}>
        <span>{wordsOf(run, words)}</span>
      </td>
      <td class="time-cell">
        <Ago at={run.created_at} />
      </td>
      <td class="number-cell elapsed-cell numbers">
        {(isLive(run) || ended_at !== undefined) && <Elapsed from={run.created_at} to={ended_at} />}
      </td>
      <td class="number-cell tokens-cell numbers">{run.tokens.toLocaleString('en')}</td>
      <td class="number-cell cost-cell numbers" title={usdWords(run.usd, run.unpriced_tokens)}>
        {costCell(run)}
      </td>
    </>
  )
}

function wordsOf(run: RunSummary, words: string | undefined): string {
  if (words !== undefined) return localTimes(words, Date.now())
  return run.pending_approvals > 0 ? 'waiting for a person' : ''
}

/** The column is narrow: what is not known stands in the title. */
function costCell({ usd, unpriced_tokens }: RunSummary): string {
  if (usd === null) return 'unknown'
  return unpriced_tokens === undefined ? usdWords(usd) : `≥ ${usdWords(usd)}`
}

/** Asks for the details of the rows that are seen, or nearly; of hundreds of runs that is a few. */
function useSeenRows(table: RefObject<HTMLElement | null>, runs: readonly RunSummary[]): void {
  const latest = useRef(runs)
  latest.current = runs
  const seen = useRef<Set<string>>(new Set())
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) mark(seen.current, target, isIntersecting)
        wantSeen(latest.current, seen.current)
      },
      { rootMargin: '200px' },
    )
    for (const row of table.current?.querySelectorAll('tr[data-run]') ?? []) observer.observe(row)
    return () => observer.disconnect()
  }, [runs, table])
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') wantSeen(latest.current, seen.current)
    }, 2_000)
    return () => clearInterval(timer)
  }, [])
}

function mark(seen: Set<string>, row: Element, isSeen: boolean): void {
  const run_id = row.getAttribute('data-run') ?? ''
  if (isSeen) seen.add(run_id)
  else seen.delete(run_id)
}

function wantSeen(runs: readonly RunSummary[], seen: ReadonlySet<string>): void {
  wantDetails(runs.filter(({ run_id }) => seen.has(run_id)))
}

/** What the list does not say of a run that lives, or that ended before the list knew how. */
interface RunDetails {
  readonly ended_at?: string
  /** What it waits for, or why it ended so. */
  readonly words?: string
}

interface Kept {
  readonly details: Signal<RunDetails | undefined>
  /** Event and time of the newest question. */
  seq: number
  asked_at: number
}

const kept = new Map<string, Kept>()

/** The details of a run, once they are there: wantDetails asks for them. */
function detailsOf(run_id: string): ReadonlySignal<RunDetails | undefined> {
  return keptOf(run_id).details
}

/** Asks for the details of runs somebody looks at, where the list lacks them and something happened since; few at a time. */
function wantDetails(runs: readonly RunSummary[]): void {
  for (const run of runs) {
    const one = keptOf(run.run_id)
    if (hasAll(run) || !isStale(one, run)) continue
    one.seq = run.last_seq
    one.asked_at = Date.now()
    waiting.add(run.run_id)
  }
  work()
}

/** ms after which what a live run waits for is told in other words (`running for 12 s`). */
const STALE_MS = 5_000

function isLive({ state }: RunSummary): boolean {
  return LIVE.has(state)
}

const LIVE: ReadonlySet<string> = new Set(['running', 'pending', 'paused_approval', 'waiting', 'paused'])

/** The list tells the end of a run whole. */
function hasAll({ ended_at }: RunSummary): boolean {
  return ended_at !== null
}

function isStale({ seq, asked_at }: Kept, run: RunSummary): boolean {
  return seq !== run.last_seq || (isLive(run) && Date.now() - asked_at > STALE_MS)
}

function keptOf(run_id: string): Kept {
  const known = kept.get(run_id)
  if (known !== undefined) return known
  const made = { details: signal<RunDetails | undefined>(undefined), seq: -1, asked_at: 0 }
  kept.set(run_id, made)
  return made
}

/** Runs asked for at once: the page must not crowd out its own list. */
const AT_ONCE = 3
const waiting = new Set<string>()
let busy = 0

function work(): void {
  for (const run_id of waiting) {
    if (busy >= AT_ONCE) return
    waiting.delete(run_id)
    busy += 1
    void ask(run_id).finally(() => {
      busy -= 1
      work()
    })
  }
}

async function ask(run_id: string): Promise<void> {
  const one = keptOf(run_id)
  try {
    const { run } = await answerOf(api.GET('/api/dag/runs/{run_id}', { params: { path: { run_id } } }))
    const { ended_at, waiting_for, reason } = run
    const words = waiting_for ?? reason
    one.details.value = {
      ...(ended_at === undefined ? {} : { ended_at }),
      ...(words === undefined ? {} : { words }),
    }
  } catch {
    // The list says what is wrong; these cells stay empty, and are asked for again.
    one.seq = -1
  }
}
