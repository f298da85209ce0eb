import type { RunSession } from '../run-session.ts'

/** What every tab of a run is given. */
export interface TabProps {
  readonly session: RunSession
}
