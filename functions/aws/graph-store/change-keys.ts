import { as, type Item } from '../run-store/attribute-values.ts'

export function manifestKey(tenant: string): Item {
  return { pk: as.text(`T#${tenant}#G`), sk: as.text('MANIFEST') }
}

export function changeKey(tenant: string, id: string): Item {
  return { pk: as.text(`T#${tenant}#G`), sk: as.text(`C#${id}`) }
}
