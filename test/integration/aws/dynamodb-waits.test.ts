import { everyDayEmulator } from '../../emulators/dynamodb.ts'
import { admitWaits } from './dynamodb-waits.ts'

const { name, start } = everyDayEmulator()
admitWaits(name, start)
