import { useEffect, useState } from 'preact/hooks'

/** Pixels of one line of the list, as events.css draws it: two lines of text where the page is narrow. */
export function useRowHeight(): number {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches)
  useEffect(() => {
    const query = matchMedia(NARROW)
    const look = () => setNarrow(query.matches)
    query.addEventListener('change', look)
    return () => query.removeEventListener('change', look)
  }, [])
  return isNarrow ? 58 : 30
}

const NARROW = '(max-width: 760px)'
