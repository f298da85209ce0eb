import { useEffect, useRef, useState } from 'preact/hooks'
import type { ReplaySeq } from './replay-seq.ts'

/** Plays a run from where it is shown to its newest event. Events a second, not the run's own time: it may have waited for days. */
export interface ReplayClock {
  readonly isPlaying: boolean
  readonly speed: number
  readonly setSpeed: (speed: number) => void
  readonly toggle: () => void
}

export const REPLAY_SPEEDS = [1, 5, 20, 100, 500] as const

export function useReplayClock({ seq, go }: ReplaySeq, newest: number): ReplayClock {
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
