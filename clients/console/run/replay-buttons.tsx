import { REPLAY_SPEEDS, useReplayClock } from './replay-clock.ts'
import { type Moment, momentBeside } from './replay-moments.ts'
import type { ReplaySeq } from './replay-seq.ts'

interface ButtonsProps extends ReplaySeq {
  readonly newest: number
  readonly moments: readonly Moment[]
}

/** Each step of a replay as a button, and how fast it plays. */
export function ReplayButtons(props: ButtonsProps) {
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
