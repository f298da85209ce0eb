/** Moves the picture with the pointer that went down on its background, until it goes up. */
export function dragBackground(event: PointerEvent, move: (dx: number, dy: number) => void): void {
  const { target, currentTarget, pointerId } = event
  if (event.button !== 0 || !(currentTarget instanceof HTMLElement)) return
  if (target instanceof Element && target.closest('button, a') !== null) return
  let { clientX: x, clientY: y } = event
  const drag = (moved: PointerEvent) => {
    move(moved.clientX - x, moved.clientY - y)
    x = moved.clientX
    y = moved.clientY
  }
  const drop = () => {
    currentTarget.removeEventListener('pointermove', drag)
    currentTarget.removeEventListener('lostpointercapture', drop)
    currentTarget.classList.remove('is-dragged')
  }
  currentTarget.setPointerCapture(pointerId)
  currentTarget.addEventListener('pointermove', drag)
  currentTarget.addEventListener('lostpointercapture', drop)
  currentTarget.classList.add('is-dragged')
}
