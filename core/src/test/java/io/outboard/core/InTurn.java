package io.outboard.core;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * This marks a test class that takes as long as a whole module's. A run has one of {@code of} such classes, drawn anew
 * each time; with {@code -Pthorough} and {@code -Plong} it has them all.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(InTurn.Condition.class)
public @interface InTurn {

    /** Which of them: 0 to {@code of - 1}. */
    int index();

    /** Tells how many such classes there are. */
    int of();

    /** Looks whose turn it is. */
    final class Condition implements ExecutionCondition {

        @Override
        public ConditionEvaluationResult evaluateExecutionCondition(final ExtensionContext context) {
            return AnnotationSupport.findAnnotation(context.getElement(), InTurn.class)
                    .filter(turn -> !Effort.isClassInTurn(turn.index(), turn.of()))
                    .map(turn -> ConditionEvaluationResult.disabled(
                            "another of " + turn.of() + " is in turn; -Pthorough has them all"))
                    .orElseGet(() -> ConditionEvaluationResult.enabled("in turn"));
        }
    }
}
