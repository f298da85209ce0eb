import type { RunEvent } from '../../shared/runs/event.ts'
import { foldRun } from '../../shared/runs/fold.ts'
import type { Target } from './api.ts'
import { eventLine } from './event-line.ts'
import { fetchRun, type RunAnswer } from './fetch-run.ts'
import { followEvents } from './follow-events.ts'
import { liveRun } from './live-run.ts'
import { type Frame, redraw } from './redraw.ts'
import { renderRun } from './render-run.ts'
import type { Session } from './session.ts'

interface Watch {
  readonly runId: string
  /** Shows nothing. */
  readonly quiet?: boolean
  readonly signal?: AbortSignal
  /** Called for each event after it is shown; the next one waits for it. `note` prints lines above the view. */
  onEvent?(event: RunEvent, note: (text: string) => void): Promise<void> | void
}

/** Follows a run to its end and answers how it is then: on a terminal redrawn in place, elsewhere a line an event. */
export async function watchRun(session: Session, target: Target, watch: Watch): Promise<RunAnswer> {
  const { runId, signal } = watch
  const screen = openScreen(session, await fetchRun(target, runId), watch.quiet === true)
  try {
    for await (const event of followEvents(target, { runId, ...(signal && { signal }) })) {
      screen.show(event)
      await watch.onEvent?.(event, screen.note)
    }
  } finally {
    screen.close()
  }
  return await fetchRun(target, runId)
}

interface Screen {
  show(event: RunEvent): void
  note(text: string): void
  close(): void
}

function openScreen(session: Session, answer: RunAnswer, quiet: boolean): Screen {
  if (quiet) return { show() {}, note() {}, close() {} }
  return session.live ? liveScreen(session, answer) : plainScreen(session, answer)
}

function plainScreen(session: Session, { run }: RunAnswer): Screen {
  return {
    show(event) {
      const line = eventLine(event, Date.parse(run.started_at ?? event.at))
      if (line !== undefined) session.say(line)
    },
    note: session.say,
    close() {},
  }
}

/** Redraws ten times a second, however many events came since; elapsed times move on without any. */
function liveScreen(session: Session, answer: RunAnswer): Screen {
  let drawn: Frame = { lines: [], columns: 0 }
  let news: RunEvent[] = []
  let fold = foldRun([])
  const draw = (above = '') => {
    fold = foldRun(news, fold)
    news = []
    const { columns, rows } = session.size()
    const canvas = { columns, rows: rows - 1, color: session.settings.color, now: Date.now() }
    const next = { lines: renderRun(liveRun(answer, fold), canvas), columns }
    const text = redraw(drawn, next, above)
    if (text !== '') void session.write(text)
    drawn = next
  }
  const timer = setInterval(draw, 100)
  return {
    show: (event) => void news.push(event),
    note: draw,
    close() {
      clearInterval(timer)
      draw()
    },
  }
}
