import { momentWords, timeWords } from '../parts/time-words.ts'

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
            {isToday ? timeWords(part) : momentWords(part)}
          </time>
        )
      })}
    </>
  )
}

/** Its group is what split() hands out at the odd places. */
const MOMENT = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/
