import { useCallback, useState } from 'preact/hooks'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { placeOfSeq } from './events-keys.ts'

/** Which events are opened, and how high their payloads are. */
export interface OpenRows {
  has(seq: number): boolean
  readonly toggle: (seq: number) => void
  readonly onHeight: (seq: number, height: number) => void
  /** Heights by the place in a list. */
  extraOf(events: readonly RunEvent[]): ReadonlyMap<number, number>
}

export function useOpenRows(): OpenRows {
  const [heights, setHeights] = useState<ReadonlyMap<number, number>>(new Map())
  const toggle = useCallback((seq: number) => {
    setHeights((old) => {
      const next = new Map(old)
      if (!next.delete(seq)) next.set(seq, 0)
      return next
    })
  }, [])
  const onHeight = useCallback((seq: number, height: number) => {
    setHeights((old) => (!old.has(seq) || old.get(seq) === height ? old : new Map(old).set(seq, height)))
  }, [])
  return {
    has: (seq) => heights.has(seq),
    toggle,
    onHeight,
    extraOf: (events) =>
      new Map(
        [...heights].flatMap(([seq, height]) => {
          const place = placeOfSeq(events, seq)
          return events[place]?.seq === seq ? [[place, height] as const] : []
        }),
      ),
  }
}
