import { useState } from 'preact/hooks'
import { hrefOf } from '../route.ts'
import type { RunSession } from '../run-session.ts'
import { RetryDialog } from './actions-retry.tsx'
import { StopDialog } from './actions-stop.tsx'

/** What can be done with the run as it stands. */
export function RunActions({ session }: { readonly session: RunSession }) {
  const [open, setOpen] = useState<'stop' | 'retry'>()
  const run = session.answer.value?.run
  if (run === undefined) return null
  const close = () => setOpen(undefined)
  const isEnded = run.ended_at !== undefined
  return (
    <div class="run-actions row">
      <PendingLink session={session} />
      <a class="button" href={hrefOf(['compare', run.run_id])}>
        Compare with…
      </a>
      {isEnded && run.role !== 'research_pipeline' && (
        <button type="button" onClick={() => setOpen('retry')}>
          Retry…
        </button>
      )}
      {!isEnded && (
        <button type="button" class="danger" onClick={() => setOpen('stop')}>
          Stop…
        </button>
      )}
      {open === 'stop' && <StopDialog session={session} onClose={close} />}
      {open === 'retry' && <RetryDialog session={session} onClose={close} />}
    </div>
  )
}

/** What can be done with one block of it; nothing where nothing can. */
export function BlockActions({ session, blockId }: { readonly session: RunSession; readonly blockId: string }) {
  const [open, setOpen] = useState<'stop' | 'retry'>()
  const answer = session.answer.value
  if (answer === undefined || session.shownSeq.value !== undefined) return null
  const state = answer.blocks[blockId]?.state ?? ''
  const close = () => setOpen(undefined)
  const isEnded = answer.run.ended_at !== undefined
  return (
    <div class="row">
      {isEnded && (
        <button type="button" onClick={() => setOpen('retry')}>
          Retry from here…
        </button>
      )}
      {!isEnded && !OVER.has(state) && (
        <button type="button" class="danger" onClick={() => setOpen('stop')}>
          Stop this block…
        </button>
      )}
      {open === 'stop' && <StopDialog session={session} blockId={blockId} onClose={close} />}
      {open === 'retry' && <RetryDialog session={session} fromBlock={blockId} onClose={close} />}
    </div>
  )
}

const OVER: ReadonlySet<string> = new Set(['completed', 'failed', 'skipped', 'cancelled'])

function PendingLink({ session }: { readonly session: RunSession }) {
  const pending = session.answer.value?.approvals.filter(({ status }) => status === 'pending') ?? []
  const [first] = pending
  if (first === undefined) return null
  return (
    <a class="button primary" href={hrefOf(['approvals'], { approval: first.approval_id })}>
      {pending.length === 1 ? `Decide on ${first.block_id}` : `Decide on ${pending.length} approvals`}
    </a>
  )
}
