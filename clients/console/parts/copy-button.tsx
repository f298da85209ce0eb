import { useEffect, useState } from 'preact/hooks'

/** Copies `text()`, which is made only then; says whether it worked where the word was. */
export function CopyButton({ text, label }: { readonly text: () => string; readonly label: string }) {
  const [said, setSaid] = useState<string>()
  useEffect(() => {
    if (said === undefined) return
    const timer = setTimeout(() => setSaid(undefined), SAID_MS)
    return () => clearTimeout(timer)
  }, [said])
  const copy = () => {
    copyText(text()).then(
      () => setSaid('Copied'),
      () => setSaid('Not allowed by the browser'),
    )
  }
  return (
    <button type="button" class="quiet" onClick={copy}>
      {said ?? 'Copy'}
      <span class="visually-hidden"> {label}</span>
    </button>
  )
}

const SAID_MS = 2_000

/** The browser gives pages of plain http on another host no clipboard at all. */
async function copyText(text: string): Promise<void> {
  await navigator.clipboard.writeText(text)
}
