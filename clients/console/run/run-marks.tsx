import { changeQuery } from '../route.ts'
import type { RunSession } from '../run-session.ts'

/** Whether what is shown is what is happening. */
export function StreamMark({ session }: { readonly session: RunSession }) {
  const { words, tone, title } = streamOf(session)
  return (
    <span class={`stream-mark ${tone}`} role="status" title={title}>
      <span class="dot" aria-hidden="true" />
      {words}
    </span>
  )
}

function streamOf({ isEnded, isLive, events }: RunSession) {
  if (isEnded.value) return { words: 'Ended', tone: 'is-ended', title: 'Every event of the run is here.' }
  if (isLive.value) return { words: 'Live', tone: 'is-live', title: 'Events are shown as they happen.' }
  const words = events.value.length === 0 ? 'Connecting' : 'Reconnecting'
  return { words, tone: 'is-away', title: 'What is shown may be older than the run.' }
}

/** Says so while an earlier moment is shown, and leads back to the newest. */
export function ReplayMark({ session }: { readonly session: RunSession }) {
  const seq = session.shownSeq.value
  if (seq === undefined) return null
  const back = () => {
    session.show(undefined)
    changeQuery({ seq: undefined })
  }
  return (
    <span class="replay-mark">
      Shown as of event {seq} of {session.events.value.length}
      <button type="button" onClick={back}>
        Back to newest
      </button>
    </span>
  )
}
