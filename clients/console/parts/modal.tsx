import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

interface ModalProps {
  readonly title: string
  /** Esc, and whatever the dialog offers besides. */
  readonly onClose: () => void
  readonly children: ComponentChildren
}

/**
 * A dialog above the page while it is drawn. The browser keeps the focus inside; when it goes, the focus returns to
 * where it was, or to the content where that is gone.
 */
export function Modal({ title, onClose, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const opener = document.activeElement
    const shown = dialog.current
    shown?.showModal()
    return () => {
      shown?.close()
      focusAgain(opener)
    }
  }, [])
  const cancel = (event: Event) => {
    event.preventDefault()
    onClose()
  }
  return (
    <dialog ref={dialog} class="stack" aria-labelledby={id} onCancel={cancel}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  )
}

function focusAgain(opener: Element | null): void {
  if (opener instanceof HTMLElement && opener !== document.body && opener.isConnected) opener.focus()
  // It may be drawn anew in the same moment.
  else queueMicrotask(() => document.activeElement === document.body && document.getElementById('main')?.focus())
}
