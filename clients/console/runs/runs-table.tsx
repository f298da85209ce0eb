import { useRef } from 'preact/hooks'
import { useKeys } from '../place/keys.ts'
import type { RunSummary } from './known-runs.ts'
import { RunRow } from './run-row.tsx'
import { useSeenRows } from './use-seen-rows.ts'

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
