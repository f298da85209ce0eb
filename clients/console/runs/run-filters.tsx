import type { RefObject } from 'preact'
import { lookOf } from '../parts/state-mark.tsx'
import { changeQuery, route } from '../route.ts'
import type { RunFilter } from './use-runs.ts'

const STATES = [
  'running',
  'pending',
  'paused_approval',
  'completed',
  'partial',
  'blocked',
  'failed',
  'cancelled',
  'iterated',
] as const
const ROLES = ['root', 'child', 'research_pipeline'] as const
const ROLE_WORDS = { root: 'started by a caller', child: 'started by a block', research_pipeline: 'research' } as const

/** What the address says of the filters; a word nobody knows is none. */
export function readFilter(query: Readonly<Record<string, string>>): RunFilter {
  const status = STATES.find((state) => state === query.status)
  const role = ROLES.find((one) => one === query.role)
  return {
    ...(status === undefined ? {} : { status }),
    ...(role === undefined ? {} : { role }),
    ...(query.dag ? { dag: query.dag } : {}),
  }
}

interface FiltersProps {
  /** Names to offer: of the runs that are known. */
  readonly names: readonly string[]
  readonly first: RefObject<HTMLInputElement | null>
}

/** All of it is in the address. */
export function RunFilters({ names, first }: FiltersProps) {
  const { status, dag, role } = route.value.query
  return (
    <search class="row filters">
      <label>
        DAG
        <input
          ref={first}
          type="search"
          list="dag-names"
          placeholder="any name, whole"
          value={dag ?? ''}
          onChange={({ currentTarget }) => changeQuery({ dag: currentTarget.value.trim() || undefined })}
        />
      </label>
      <datalist id="dag-names">
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <label>
        State
        <select
          value={status ?? ''}
          onChange={({ currentTarget }) => changeQuery({ status: currentTarget.value || undefined })}
        >
          <option value="">any</option>
          {STATES.map((state) => (
            <option key={state} value={state}>
              {lookOf(state).sign} {lookOf(state).label}
            </option>
          ))}
        </select>
      </label>
      <label>
        Kind
        <select
          value={role ?? ''}
          onChange={({ currentTarget }) => changeQuery({ role: currentTarget.value || undefined })}
        >
          <option value="">any</option>
          {ROLES.map((one) => (
            <option key={one} value={one}>
              {ROLE_WORDS[one]}
            </option>
          ))}
        </select>
      </label>
      {(status ?? dag ?? role) !== undefined && (
        <button type="button" onClick={() => changeQuery({ status: undefined, dag: undefined, role: undefined })}>
          Clear
        </button>
      )}
    </search>
  )
}
