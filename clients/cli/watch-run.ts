import { setInterval } from 'node:timers'
import type { RunEvent } from '../../shared/runs/event.ts'
import type { Target } from './api.ts'
import { eventLine } from './event-line.ts'
import { fetchRun } from './fetch-run.ts'
import { followEvents } from './follow-events.ts'
import { renderRun } from './render-run.ts'
import { applyEvent, newRunView, type RunView } from './run-view.ts'
import type { Session } from './session.ts'

interface Watch {
  readonly runId: string
  /** Shows nothing; the caller reads the events. */
  readonly quiet?: boolean
  readonly signal?: AbortSignal
  /** Called for each event after it is shown; the next one waits for it. `note` prints lines above the view. */
  onEvent?(event: RunEvent, note: (text: string) => void): Promise<void> | void
}

/**
 * Follows a run to its end and answers the last view: on a terminal redrawn in place, elsewhere a line an event.
 */
export async function watchRun(session: Session, target: Target, watch: Watch): Promise<RunView> {
  let view = newRunView(await fetchRun(target, watch.runId))
  const screen = watch.quiet === true ? silent : session.live ? liveScreen(session, () => view) : plainScreen(session)
  try {
    const { runId, signal } = watch
    for await (const event of followEvents(target, { runId, ...(signal && { signal }) })) {
      view = applyEvent(view, event)
      screen.show(event, view)
      await watch.onEvent?.(event, screen.note)
    }
  } finally {
    screen.close()
  }
  return view
}

interface Screen {
  show(event: RunEvent, view: RunView): void
  note(text: string): void
  close(): void
}

const silent: Screen = { show() {}, note() {}, close() {} }

function plainScreen(session: Session): Screen {
  return {
    show(event, view) {
      const line = eventLine(event, view.started_at ?? Date.parse(event.at))
      if (line !== undefined) session.say(line)
    },
    note: session.say,
    close() {},
  }
}

/** Redraws at most ten times a second, however many events come; the elapsed times move on without events. */
function liveScreen(session: Session, current: () => RunView): Screen {
  let drawn = 0
  const erase = () => `${drawn > 0 ? `\u001b[${drawn}A` : ''}\r\u001b[0J`
  const draw = () => {
    const { columns, rows } = session.size()
    const lines = renderRun(current(), { columns, rows: rows - 1, color: session.settings.color, now: Date.now() })
    // Wrapping is off while drawing: a character wider than it counts for must not add a line to climb over.
    void session.write(`${erase()}\u001b[?7l${lines.join('\n')}\n\u001b[?7h`)
    drawn = lines.length
  }
  const timer = setInterval(draw, 100)
  return {
    show() {},
    note(text) {
      void session.write(`${erase()}${text}\n`)
      drawn = 0
      draw()
    },
    close() {
      clearInterval(timer)
      draw()
    },
  }
}
