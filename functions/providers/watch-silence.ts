/** Aborts `signal` when nothing was heard for so long; it begins with the first `heard`. */
export interface SilenceWatch {
  readonly signal: AbortSignal
  heard(): void
  end(): void
}

/** Without a limit nothing is ever too quiet. */
export function watchSilence(idleMs: number | undefined): SilenceWatch {
  const quiet = new AbortController()
  if (idleMs === undefined) return { signal: quiet.signal, heard: () => undefined, end: () => undefined }
  let timer: NodeJS.Timeout | undefined
  return {
    signal: quiet.signal,
    heard() {
      timer ??= setTimeout(() => quiet.abort(), idleMs)
      timer.refresh()
    },
    end: () => clearTimeout(timer),
  }
}
