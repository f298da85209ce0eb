import type { RestartMode } from '../../shared/runs/head.ts'
import type { DecisionToSend } from './send-decision.ts'

interface Said {
  readonly feedback?: string
  readonly iterate?: boolean
  readonly restartMode?: RestartMode
}

/** What goes with a no. A restart mode alone means that there is to be another run. */
export function rejection({ feedback, iterate, restartMode }: Said): Partial<DecisionToSend> {
  const wanted = iterate ?? (restartMode === undefined ? undefined : true)
  return {
    ...(feedback !== undefined && { feedback }),
    ...(wanted !== undefined && { iterate: wanted }),
    ...(restartMode !== undefined && { restart_mode: restartMode }),
  }
}
