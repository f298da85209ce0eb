/** How a state looks: a sign and a word, and a colour that says nothing the two do not say. */
interface Look {
  readonly sign: string
  readonly tone: Tone
  readonly label?: string
}

export type Tone = 'good' | 'bad' | 'busy' | 'wait' | 'warn' | 'quiet'

/** States of runs, blocks, attempts, approvals and gates; one that is not known is shown by its own name. */
const LOOKS: Readonly<Record<string, Look>> = {
  completed: { sign: '✓', tone: 'good' },
  done: { sign: '✓', tone: 'good' },
  approved: { sign: '✓', tone: 'good' },
  passed: { sign: '✓', tone: 'good' },
  valid: { sign: '✓', tone: 'good' },
  MET: { sign: '✓', tone: 'good', label: 'met' },
  SUCCESS: { sign: '✓', tone: 'good', label: 'success' },
  failed: { sign: '✕', tone: 'bad' },
  rejected: { sign: '✕', tone: 'bad' },
  refused: { sign: '⊘', tone: 'warn' },
  error: { sign: '!', tone: 'bad' },
  NOT_MET: { sign: '✕', tone: 'bad', label: 'not met' },
  FAILED: { sign: '✕', tone: 'bad', label: 'failed' },
  partial: { sign: '◐', tone: 'warn' },
  PARTIAL: { sign: '◐', tone: 'warn', label: 'partial' },
  blocked: { sign: '⊘', tone: 'warn' },
  BLOCKED: { sign: '⊘', tone: 'warn', label: 'blocked' },
  waived: { sign: '≈', tone: 'warn' },
  warned: { sign: '!', tone: 'warn' },
  expired: { sign: '⌛', tone: 'warn' },
  retrying: { sign: '↻', tone: 'warn' },
  running: { sign: '▶', tone: 'busy' },
  claimed: { sign: '▶', tone: 'busy', label: 'running' },
  ready: { sign: '◇', tone: 'busy' },
  pending: { sign: '○', tone: 'wait' },
  queued: { sign: '≡', tone: 'wait' },
  asked: { sign: '?', tone: 'wait', label: 'waits for a person' },
  paused_approval: { sign: '?', tone: 'wait', label: 'waits for approval' },
  paused: { sign: '‖', tone: 'wait' },
  waiting: { sign: '⧗', tone: 'wait', label: 'waits' },
  UNKNOWN: { sign: '?', tone: 'wait', label: 'unknown' },
  PENDING: { sign: '○', tone: 'wait', label: 'not judged yet' },
  skipped: { sign: '↷', tone: 'quiet' },
  cancelled: { sign: '■', tone: 'quiet' },
  ABORTED: { sign: '■', tone: 'quiet', label: 'aborted' },
  revoked: { sign: '■', tone: 'quiet' },
  iterated: { sign: '⟲', tone: 'quiet' },
}

export function lookOf(state: string): Required<Look> {
  const known = Object.hasOwn(LOOKS, state) ? LOOKS[state] : undefined
  return { label: state.replaceAll('_', ' '), sign: '·', tone: 'quiet', ...known }
}

/** A state as sign and word. */
export function StateMark({ state, isQuiet = false }: { readonly state: string; readonly isQuiet?: boolean }) {
  const { sign, tone, label } = lookOf(state)
  return (
    <span class={`state tone-${tone}${isQuiet ? ' is-quiet' : ''}`} data-state={state}>
      <span class="sign" aria-hidden="true">
        {sign}
      </span>
      {label}
    </span>
  )
}
