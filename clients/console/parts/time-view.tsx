import { computed, signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { agoWords, durationWords, momentWords, timeOfDayWords } from './format.ts'

/** The reader's clock in ms since 1970, to the second. */
export const now = signal(Date.now())
setInterval(() => {
  if (document.visibilityState === 'visible') now.value = Date.now()
}, 1_000)

/** `3 min ago`; the whole moment, local and UTC, when pointed at. Only its text changes as time goes. */
export function Ago({ at }: { readonly at: string }) {
  const words = useMemo(() => computed(() => agoWords(Date.parse(at), now.value)), [at])
  return (
    <time dateTime={at} title={`${momentWords(at)} (${at})`}>
      {words}
    </time>
  )
}

/** How long something took; without an end, how long it takes by now. */
export function Elapsed({ from, to }: { readonly from: string; readonly to: string | undefined }) {
  const words = useMemo(() => computed(() => elapsedWords(from, to)), [from, to])
  return <span class="numbers">{words}</span>
}

function elapsedWords(from: string, to: string | undefined): string {
  if (to !== undefined) return durationWords(Date.parse(to) - Date.parse(from))
  return durationWords(Math.floor(Math.max(0, now.value - Date.parse(from)) / 1_000) * 1_000)
}

/** Words of the server, their moments in the reader's time; the UTC one is in the title. */
export function WordsWithTimes({ words }: { readonly words: string }) {
  const today = new Date().toDateString()
  return (
    <>
      {words.split(MOMENT).map((part, index) => {
        if (index % 2 === 0) return part
        const isToday = new Date(part).toDateString() === today
        return (
          <time key={`${index} ${part}`} dateTime={part} title={`${momentWords(part)} (${part})`}>
            {isToday ? timeOfDayWords(part) : momentWords(part)}
          </time>
        )
      })}
    </>
  )
}

/** Its group is what split() hands out at the odd places. */
const MOMENT = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/
