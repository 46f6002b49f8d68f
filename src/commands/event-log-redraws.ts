import * as forms from '../views/event-logs-form.ts';
import type { Action } from './define.ts';
import { formOf } from './event-log-form.ts';
import { hasToChange, withoutRow, withRow, withUsualOps } from './event-log-rows.ts';
import { corrected, fitted, readWindow } from './event-log-window.ts';

/** A window that is one press away. */
const chooseWindow: Action = {
  id: 'event-logs:window',
  needs: 'export',
  async redraw(value, context) {
    const form = formOf(context.modal);
    const drawn = form.drawn + 1;
    if (value === forms.correctWindow.value)
      return forms.exportForm({ ...form, ...corrected(form.from, form.to, context.now()), drawn });
    const label = Object.hasOwn(forms.windowChoices, value) ? value : '24h';
    const window = readWindow(`last ${label}`, context.now(), 'UTC');
    return forms.exportForm({ ...form, ...(fitted(window, context.now()) ?? window), drawn });
  },
};

const addFilter: Action = {
  id: 'event-logs:filter',
  needs: 'export',
  async redraw(_, context) {
    const form = formOf(context.modal);
    return forms.exportForm({ ...form, ...withRow(form) });
  },
};

const removeFilter: Action = {
  id: 'event-logs:filter-remove',
  needs: 'export',
  async redraw(value, context) {
    const form = formOf(context.modal);
    return forms.exportForm({ ...form, ...withoutRow(form, Number(value)) });
  },
};

const chooseField: Action = {
  id: 'event-logs:filter-field',
  needs: 'export',
  async redraw(_, context) {
    const form = formOf(context.modal);
    return hasToChange(form.filters, context.modal?.fields ?? {})
      ? forms.exportForm({ ...form, ...withUsualOps(form) })
      : undefined;
  },
};

const chooseOp: Action = {
  id: 'event-logs:filter-op',
  needs: 'export',
  redraw: async (_, context) => forms.exportForm(formOf(context.modal)),
};

/** The buttons and menus of the form that change it while it is open. */
export const redraws: readonly Action[] = [chooseWindow, addFilter, removeFilter, chooseField, chooseOp];
