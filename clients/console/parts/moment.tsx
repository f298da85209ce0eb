import { computed, signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { agoWords } from './ago-words.ts'
import { durationWords, momentWords } from './time-words.ts'

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
