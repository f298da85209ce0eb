import type { Tone } from '../parts/state-mark.tsx'
import type { Approval } from './decision.ts'

type Level = Approval['risk']['level']

const LOOKS: Readonly<Record<Level, { readonly sign: string; readonly tone: Tone }>> = {
  low: { sign: '▁', tone: 'quiet' },
  medium: { sign: '▄', tone: 'warn' },
  high: { sign: '█', tone: 'bad' },
}

/** Sign, word and colour: the higher, the more. */
export function RiskMark({ level }: { readonly level: Level }) {
  const { sign, tone } = LOOKS[level]
  return (
    <span class={`state tone-${tone}`}>
      <span class="sign" aria-hidden="true">
        {sign}
      </span>
      {level} risk
    </span>
  )
}
