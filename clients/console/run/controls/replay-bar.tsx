import './replay.css'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { RunEvent } from '../../../../shared/runs/event.ts'
import { changeQuery, route } from '../../route.ts'
import { eventWords } from '../session/event-words.ts'
import type { RunSession } from '../session/run-session.ts'
import { type Moment, mergeCloseMoments, momentBeside, replayMoments } from './replay-moments.ts'

/** The run at any of its events: a slider with marks of what mattered, buttons for each step, a clock that plays it. */
export function ReplayBar({ session }: { readonly session: RunSession }) {
  const events = session.events.value
  const newest = events.length
  const { seq, go } = useReplaySeq(session)
  const moments = useMemo(() => replayMoments(events), [events])
  const event = events[seq - 1]
  const words = event === undefined ? 'before the first event' : lineOf(event)
  return (
    <section class="replay card" aria-label="Replay">
      <div class="replay-slider">
        <input
          type="range"
          aria-label="Event shown"
          aria-valuetext={`event ${seq} of ${newest}: ${words}`}
          min={0}
          max={newest}
          value={seq}
          onInput={({ currentTarget }) => go(currentTarget.valueAsNumber)}
        />
        <ReplayMarks moments={moments} newest={newest} />
      </div>
      <div class="row">
        <ReplayButtons {...{ seq, newest, moments, go }} />
        <p class="replay-words small" title={event?.at}>
          <strong class="numbers">
            {seq.toLocaleString('en')} of {newest.toLocaleString('en')}
          </strong>{' '}
          <span class={seq < newest ? 'replay-past' : 'soft'}>{placeWords(session, seq < newest)}</span> {words}
        </p>
      </div>
    </section>
  )
}

/** What of the run the page shows. */
function placeWords({ isLive, isEnded }: RunSession, isPast: boolean): string {
  if (isPast) return 'the page shows this moment'
  if (isEnded.value) return 'the end'
  return isLive.value ? 'live' : 'the newest known'
}

function lineOf(event: RunEvent): string {
  return event.block_id === undefined ? eventWords(event) : `${event.block_id}: ${eventWords(event)}`
}

interface ButtonsProps extends ReplaySeq {
  readonly newest: number
  readonly moments: readonly Moment[]
}

/** Each step of a replay as a button, and how fast it plays. */
function ReplayButtons(props: ButtonsProps) {
  const { newest } = props
  const { isPlaying, speed, setSpeed, toggle } = useReplayClock(props, newest)
  return (
    <div class="row replay-buttons">
      {stepsOf(props, -1).map(StepButton)}
      <button type="button" class="primary" disabled={newest === 0} onClick={toggle}>
        <span aria-hidden="true">{isPlaying ? '❚❚' : '▶'}</span> {isPlaying ? 'Pause' : 'Play'}
      </button>
      {stepsOf(props, 1).map(StepButton)}
      <label class="small">
        <span class="visually-hidden">Speed, events a second</span>
        <select value={speed} onChange={({ currentTarget }) => setSpeed(Number(currentTarget.value))}>
          {REPLAY_SPEEDS.map((one) => (
            <option key={one} value={one}>
              {one} a second
            </option>
          ))}
        </select>
      </label>
    </div>
  )
}

interface Step {
  readonly sign: string
  readonly label: string
  /** undefined: there is nothing that way. */
  readonly to: number | undefined
  readonly go: ReplaySeq['go']
}

/** Backwards from the farthest, forwards from the nearest: as they stand beside Play. */
function stepsOf({ seq, newest, moments, go }: ButtonsProps, side: -1 | 1): readonly Step[] {
  const isAtEnd = side < 0 ? seq <= 0 : seq >= newest
  const moment = momentBeside(moments, seq, side)?.seq
  const end = side < 0 ? 0 : newest
  const [sign, words] = side < 0 ? [['⇤', '«', '‹'], BACK] : [['⇥', '»', '›'], ON]
  const steps = [end, moment ?? end, seq + side].map((to, place) => ({
    sign: sign[place] ?? '',
    label: words[place] ?? '',
    to: isAtEnd ? undefined : to,
    go,
  }))
  return side < 0 ? steps : steps.toReversed()
}

const BACK = ['First', 'Previous moment', 'Previous event']
const ON = ['Newest', 'Next moment', 'Next event']

function StepButton({ sign, label, to, go }: Step) {
  return (
    <button
      key={label}
      type="button"
      title={label}
      aria-label={label}
      disabled={to === undefined}
      onClick={() => go(to)}
    >
      <span aria-hidden="true">{sign}</span>
    </button>
  )
}

/** Plays a run from where it is shown to its newest event. Events a second, not the run's own time: it may have waited for days. */
interface ReplayClock {
  readonly isPlaying: boolean
  readonly speed: number
  readonly setSpeed: (speed: number) => void
  readonly toggle: () => void
}

const REPLAY_SPEEDS = [1, 5, 20, 100, 500] as const

function useReplayClock({ seq, go }: ReplaySeq, newest: number): ReplayClock {
  const [isPlaying, setPlaying] = useState(false)
  const [chosen, setSpeed] = useState<number>()
  const speed = chosen ?? speedFor(newest)
  const latest = useRef({ seq, go, newest })
  latest.current = { seq, go, newest }
  useEffect(() => {
    if (!isPlaying) return
    const tick = Math.max(FRAME_MS, 1_000 / speed)
    const timer = setInterval(() => {
      const now = latest.current
      const to = now.seq + Math.max(1, Math.round((speed * tick) / 1_000))
      now.go(to)
      if (to >= now.newest) setPlaying(false)
    }, tick)
    return () => clearInterval(timer)
  }, [isPlaying, speed])
  const toggle = () => {
    // From the end there is nothing to play: it begins again.
    if (!isPlaying && seq >= newest) go(0)
    setPlaying(!isPlaying)
  }
  return { isPlaying, speed, setSpeed, toggle }
}

/** Steps a second that every machine draws. */
const FRAME_MS = 50

/** About ten seconds for the whole of it. */
function speedFor(newest: number): number {
  return REPLAY_SPEEDS.find((speed) => speed * 10 >= newest) ?? 500
}

/** The event the page is at, 0 = before the first; `go(undefined)`, or to the newest, follows the run. */
interface ReplaySeq {
  readonly seq: number
  readonly go: (seq: number | undefined) => void
}

/**
 * Mirrors `?seq=`: an address that names one is shown, a step shown is written there soon after. Not at once, since
 * browsers allow some 100 changes of the address in 30 seconds and a slider makes 60 in one.
 */
function useReplaySeq(session: RunSession): ReplaySeq {
  const asked = route.value.query.seq
  const written = useRef<string | undefined>(undefined)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => {
    if (asked === undefined || asked !== written.current) session.show(seqOf(asked))
    written.current = asked
  }, [asked, session])
  useEffect(() => () => clearTimeout(timer.current), [])
  const newest = session.events.value.length
  const seq = Math.min(session.shownSeq.value ?? newest, newest)
  const go = (to: number | undefined) => {
    const shown = to === undefined || to >= newest ? undefined : Math.max(0, to)
    session.show(shown)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      written.current = shown === undefined ? undefined : String(shown)
      changeQuery({ seq: written.current })
    }, WRITE_MS)
  }
  return { seq, go }
}

const WRITE_MS = 350

/** What anybody typed there; undefined = no event is meant. */
function seqOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined
}

/** Ticks below a slider. For eyes only: the buttons go from moment to moment, and say each in words. */
function ReplayMarks({ moments, newest }: { readonly moments: readonly Moment[]; readonly newest: number }) {
  const marks = useMemo(() => mergeCloseMoments(moments, newest), [moments, newest])
  return (
    <div class="replay-marks" aria-hidden="true">
      {marks.map(({ seq, tone }) => (
        <span key={seq} class={`is-${tone}`} style={{ left: `${(100 * seq) / Math.max(1, newest)}%` }} />
      ))}
    </div>
  )
}
